/** What can go wrong with containers, in words. */
import { type ErrorData, TroupeError, toErrorData } from '../../errors.ts'
import { hide } from '../../redact.ts'

export const badOption = (name: string, value: unknown, wanted: string): TroupeError =>
  new TroupeError({
    tag: 'docker-bad-option',
    message: `${name} of a Docker runtime is ${wanted}, not ${JSON.stringify(value)}`,
    details: { name },
  })

export const dockerfileOutside = (path: string, context: string): TroupeError =>
  new TroupeError({
    tag: 'docker-bad-option',
    message: `the Dockerfile ${path} is not in its build context ${context}; name a folder that holds it`,
    address: path,
    details: { name: 'context' },
  })

export const badHost = (text: string, origin: string): TroupeError =>
  new TroupeError({
    tag: 'docker-bad-host',
    message: `${origin} is "${text}", which is no address of an engine that can be used here; write unix:///path/to/docker.sock or tcp://host:port. For an engine behind ssh, forward its socket (ssh -L /tmp/docker.sock:/var/run/docker.sock HOST) and name that`,
    address: text,
  })

export const certificatesNotRead = (directory: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-no-certificates',
      message: `ca.pem, cert.pem and key.pem cannot be read in ${directory}; name their folder with DOCKER_CERT_PATH, or unset it and DOCKER_TLS_VERIFY`,
      address: directory,
    },
    cause,
  )

/** Where an engine was looked for, and who said so. */
export interface LookedAt {
  readonly text: string
  readonly origin: 'option' | 'DOCKER_HOST' | 'default'
}

const ORIGIN: Readonly<Record<LookedAt['origin'], string>> = {
  option: 'as the option `host` says',
  DOCKER_HOST: 'as DOCKER_HOST says',
  default: 'the default; DOCKER_HOST is not set',
}

const NEXT: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ECONNREFUSED: 'nobody listens there',
  EACCES: 'this user may not open it (join the group docker, or run a rootless engine)',
  ENOTFOUND: 'there is no such host',
}

export const noEngine = ({ text, origin }: LookedAt, code: string, cause?: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-no-engine',
      message: `no Docker engine answers at ${text} (${ORIGIN[origin]}): ${NEXT[code] ?? code}. Start one there, or say where it is: DOCKER_HOST=unix:///path/to/docker.sock or DOCKER_HOST=tcp://host:port`,
      address: text,
      details: { origin, code },
      transient: true,
    },
    cause,
  )

export const notAnEngine = ({ text }: LookedAt): TroupeError =>
  new TroupeError({
    tag: 'docker-not-an-engine',
    message: `what answers at ${text} is no Docker engine; correct DOCKER_HOST`,
    address: text,
  })

export const windowsEngine = ({ text }: LookedAt): TroupeError =>
  new TroupeError({
    tag: 'docker-windows-engine',
    message: `the engine at ${text} runs Windows containers; switch it to Linux containers`,
    address: text,
  })

export const remoteEngine = ({ text }: LookedAt): TroupeError =>
  new TroupeError({
    tag: 'docker-engine-elsewhere',
    message: `the engine at ${text} is on another machine, whose 127.0.0.1 is not this one's; name the address of it that ports are to be published on with \`publishOn\` (--publish-on ADDRESS), on a network that only friends are in`,
    address: text,
  })

/** It may or may not have done what was asked. */
export const engineLost = (what: string, { text }: LookedAt, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-engine-lost',
      message: `the engine at ${text} broke off while it was asked to ${what}: ${toErrorData(cause).message}; see whether it runs`,
      address: text,
      transient: true,
    },
    cause,
  )

export const engineSilent = (what: string, { text }: LookedAt, deadlineMs: number): TroupeError =>
  new TroupeError({
    tag: 'docker-engine-silent',
    message: `the engine at ${text} did not ${what} within ${Math.round(deadlineMs / 1_000)} s; it may have more to do than it can`,
    address: text,
    transient: true,
  })

const TAGS: Readonly<Record<number, string>> = { 404: 'docker-not-found', 409: 'docker-conflict' }

/** What the engine itself answered. Its own faults may pass; what it refuses, it refuses again. */
export const engineRefused = (what: string, { text }: LookedAt, status: number, said: string): TroupeError =>
  new TroupeError({
    tag: TAGS[status] ?? (status >= 500 ? 'docker-engine-error' : 'docker-refused'),
    message: `the engine would not ${what} (${status}): ${hide(said)}`,
    address: text,
    details: { status, said: hide(said) },
    ...(status >= 500 ? { transient: true } : {}),
  })

export const nameTaken = (name: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-name-taken',
      message: `there is a container ${name} already, which is not ours and is left alone; remove it with docker rm -f ${name}`,
      address: name,
      transient: true,
    },
    cause,
  )

export const imageLine = (name: string, line: string): ErrorData => ({
  tag: 'docker-image-log',
  message: line,
  address: name,
})

export const pullFailed = (name: string, said: string, cause?: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-pull-failed',
      message: `the engine has no image ${name} and could not pull it: ${hide(said)}. Correct the name, pull it yourself (docker pull ${name}) where a login is needed, or name a Dockerfile`,
      address: name,
    },
    cause,
  )

const KEPT_IN_MESSAGE = 30

export const buildFailed = (path: string, said: string, log: readonly string[]): TroupeError => {
  const wantsBuildKit = /buildkit/i.test(said)
  const advice = wantsBuildKit
    ? 'It needs BuildKit, which this build does not use: build it with docker build, and name the image'
    : 'Mend the Dockerfile; docker build says more'
  const end = log.slice(-KEPT_IN_MESSAGE).join('\n')
  return new TroupeError({
    tag: 'docker-build-failed',
    message: hide(`${path} could not be built: ${said}${end === '' ? '' : `\nIts log ends with:\n${end}`}\n${advice}`),
    address: path,
    details: { said: hide(said), log: log.map(hide) },
  })
}

export const dockerfileMissing = (path: string): TroupeError =>
  new TroupeError({
    tag: 'dockerfile-missing',
    message: `there is no Dockerfile at ${path}; correct the path, or name an image`,
    address: path,
  })

export const ignoreNotRead = (path: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-ignore-not-read',
      message: `${path} cannot be read, so that nobody knows what is not to be sent; mend it or remove it`,
      address: path,
    },
    cause,
  )

export const noCommand = (name: string): TroupeError =>
  new TroupeError({
    tag: 'docker-no-command',
    message: `the image ${name} has no command, so nothing would serve in it; give its Dockerfile a CMD, or the runtime a \`command\` (--serve-command)`,
    address: name,
  })

export const portNotPublished = (id: string, port: number, network: string): TroupeError =>
  new TroupeError({
    tag: 'docker-port-not-published',
    message: `the engine did not publish port ${port} of the sandbox ${id}, so that it cannot be reached; the network ${network} publishes none: choose one that is not internal`,
    address: id,
    details: { port, network },
  })

/** How a container came to its end. */
export type End =
  | {
      readonly kind: 'exited'
      readonly exitCode: number
      readonly oomKilled: boolean
      /** The engine's own word, where it has one. */
      readonly said: string
    }
  | { readonly kind: 'removed' }
  | { readonly kind: 'engine-gone'; readonly cause: ErrorData }

/** From here on an exit code tells of a signal: of the memory limit, or of somebody's kill. */
const FIRST_SIGNAL_CODE = 128

function how(end: End): string {
  if (end.kind === 'removed') return 'was removed by somebody else'
  if (end.kind === 'engine-gone') return `cannot be seen any more: ${end.cause.message}`
  const why = end.oomKilled ? ', killed for want of memory' : end.said === '' ? '' : ` (${hide(end.said)})`
  return `ended with exit code ${end.exitCode}${why}`
}

const said = (output: string): string => (output === '' ? 'it wrote nothing' : `its log ends with:\n${output}`)

export const environmentNotServing = (id: string, end: End, output: string): TroupeError => {
  const passing = end.kind !== 'exited' || end.oomKilled || end.exitCode >= FIRST_SIGNAL_CODE
  return new TroupeError({
    tag: 'environment-not-serving',
    message: `the container of sandbox ${id} ${how(end)} before its environment answered; ${said(output)}\nMend the image or the command that it starts with`,
    address: id,
    details: { ...end, output },
    ...(passing ? { transient: true } : {}),
  })
}

export const environmentNotReachable = (
  id: string,
  {
    port,
    address,
    deadlineMs,
    output,
  }: { readonly port: number; readonly address: string; readonly deadlineMs: number; readonly output: string },
  cause: unknown,
): TroupeError =>
  new TroupeError(
    {
      tag: 'environment-not-reachable',
      message: `the environment in sandbox ${id} did not answer at ${address}, which is port ${port} of its container, within ${deadlineMs} ms; ${said(output)}\nSee that its server listens on port ${port} of every interface (--host 0.0.0.0 --port ${port}), name its own port, or allow it more time`,
      address: id,
      details: { port, deadlineMs, output },
      transient: true,
    },
    cause,
  )

export const sandboxLost = (id: string, end: End, output: string): ErrorData => ({
  tag: 'sandbox-lost',
  message: `the container of sandbox ${id} ${how(end)}; ${said(output)}`,
  address: id,
  details: { ...end, output },
  transient: true,
})

export const notRemoved = (name: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-not-removed',
      message: `the container ${name} may still exist: ${toErrorData(cause).message}; remove it with docker rm -f ${name}, or with troupe reap --runtime docker`,
      address: name,
    },
    cause,
  )

export const leftBehind = (names: readonly string[], cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'docker-left-behind',
      message: `containers that may still exist: ${names.join(', ')}; remove them with troupe reap --runtime docker --delete once this process has ended, or with docker rm -f`,
      details: { names },
    },
    cause,
  )

/** Told when a runtime opens, of what it has found and removed. */
export const sweptUp = (names: readonly string[], { text }: LookedAt): ErrorData => ({
  tag: 'docker-swept-up',
  message: `removed ${names.length} ${names.length === 1 ? 'container' : 'containers'} at ${text} that engines left which are dead: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`,
  address: text,
  details: { names },
})
