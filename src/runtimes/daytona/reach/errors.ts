/** Why an environment in a sandbox is not reached, in words. */
import { TroupeError } from '../../../errors.ts'
import { hide } from '../../../redact.ts'
import type { Transport } from '../options.ts'

/** From here on an exit code tells of a signal: of the memory limit, or of somebody's kill. */
const FIRST_SIGNAL_CODE = 128

const said = (output: string): string => (output === '' ? 'it wrote nothing' : `its output ends with:\n${hide(output)}`)

export const environmentNotServing = (
  id: string,
  { command, exitCode, output }: { readonly command: string; readonly exitCode: number; readonly output: string },
): TroupeError =>
  new TroupeError({
    tag: 'environment-not-serving',
    message: `the environment's server in sandbox ${id} ended with exit code ${exitCode} before it answered; ${said(output)}\nMend the image or the command that starts it: ${command}`,
    address: id,
    details: { command, exitCode, output: hide(output) },
    ...(exitCode >= FIRST_SIGNAL_CODE ? { transient: true } : {}),
  })

export interface Unreached {
  readonly port: number
  readonly deadlineMs: number
  readonly tried: readonly Transport[]
  /** Undefined for a fork, whose server runs already. */
  readonly command: string | undefined
  /** Whether the command said that it serves. */
  readonly announced: boolean
  readonly output: string
  /** What the last try of each transport came to. */
  readonly troubles: readonly string[]
}

export const environmentNotReachable = (id: string, unreached: Unreached, cause?: unknown): TroupeError => {
  const { port, deadlineMs, tried, command, announced, output, troubles } = unreached
  const ways = tried.length === 0 ? 'no transport yet' : tried.join(' and ')
  const started = command === undefined ? 'forked, so that its server should run' : `started with: ${command}`
  const next = announced
    ? `Its server says that it runs, so have it listen on port ${port} of every interface (--host 0.0.0.0 --port ${port}; \`troupe serve\` wants --insecure beside it), or name its own port.`
    : `See that the image holds a server and that the command starts it on port ${port} (--host 0.0.0.0 --port ${port}; \`troupe serve\` wants --insecure beside it), or allow it more time.`
  return new TroupeError(
    {
      tag: 'environment-not-reachable',
      message: [
        `the environment in sandbox ${id} did not answer on port ${port} within ${deadlineMs} ms over ${ways}; ${started}`,
        ...troubles.map(trouble => `The last try: ${trouble}`),
        ...(command === undefined ? [] : [said(output)]),
        next,
      ].join('\n'),
      address: id,
      details: {
        port,
        deadlineMs,
        tried,
        announced,
        output: hide(output),
        ...(command === undefined ? {} : { command }),
      },
      transient: true,
    },
    cause,
  )
}

export const badSshCommand = (id: string): TroupeError =>
  new TroupeError({
    tag: 'ssh-access-unreadable',
    message: `the provider's way into sandbox ${id} by SSH names no gateway; use the transport websocket`,
    address: id,
  })

export const badPreviewUrl = (id: string): TroupeError =>
  new TroupeError({
    tag: 'preview-url-unreadable',
    message: `the provider's preview address of sandbox ${id} is no http URL; use the transport ssh`,
    address: id,
  })

/** There is no connection to the gateway, or no more. */
export const gatewayLost = (gateway: string, why: string, cause?: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'gateway-lost',
      message: `no SSH connection to the gateway ${gateway}: ${why}`,
      address: gateway,
      transient: true,
    },
    cause,
  )

/** The gateway lets this token in no more, or never did. */
export const gatewayRefused = (gateway: string): TroupeError =>
  new TroupeError({
    tag: 'gateway-refused',
    message: `the gateway ${gateway} does not let the sandbox's SSH token in; it may have expired or been revoked`,
    address: gateway,
    transient: true,
  })

export const nothingListens = (port: number, why: string): TroupeError =>
  new TroupeError({
    tag: 'nothing-listens',
    message: `nothing accepts connections on 127.0.0.1:${port} of the sandbox (${why})`,
    transient: true,
  })

export const socketDirectoryTooLong = (directory: string): TroupeError =>
  new TroupeError({
    tag: 'socket-path-too-long',
    message: `${directory} is too long for the sockets of tunnels, and so is what stands in for it; set TMPDIR to a shorter directory`,
    address: directory,
  })

export const reachClosed = (): TroupeError =>
  new TroupeError({ tag: 'reach-closed', message: 'the ways into sandboxes are closed; make a new runtime' })

export const badVariable = (name: string): TroupeError =>
  new TroupeError({
    tag: 'bad-variable-name',
    message: `"${name}" is no name of a variable for the environment's server; use letters, digits and _`,
    address: name,
  })

/** Calls off what nobody waits for any more. Made once: they tell nobody anything, and a stack trace for each would cost more than they do. */
export const OPENING_OVER = new TroupeError({
  tag: 'opening-over',
  message: 'the sandbox is not being reached any more',
})

/** The deadline has passed. */
export const OPENING_LATE = new TroupeError({ tag: 'opening-late', message: 'the sandbox was not reached in time' })

/** Begins a `hello` anew that would sleep through its server's start. */
export const ANNOUNCED_MEANWHILE = new TroupeError({
  tag: 'announced-meanwhile',
  message: 'the server says that it serves',
})
