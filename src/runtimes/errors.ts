import { type ErrorData, TroupeError } from '../errors.ts'
import type { Task } from '../taskset/task.ts'

/** What is known of how a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The last lines it wrote to stderr. */
  readonly stderr: string
}

const how = ({ code, signal }: ProcessEnd): string => (signal === null ? `exit code ${code}` : `signal ${signal}`)
const said = ({ stderr }: ProcessEnd): string =>
  stderr === '' ? 'it wrote nothing to stderr' : `its stderr ends with:\n${stderr}`

export const serveFailed = (command: string, end: ProcessEnd): TroupeError =>
  new TroupeError({
    tag: 'serve-failed',
    message: `${command} ended with ${how(end)} before it served; ${said(end)}`,
    address: command,
    details: { ...end },
  })

export const serveNotFound = (command: string, cause: unknown): TroupeError =>
  new TroupeError(
    { tag: 'serve-not-found', message: `cannot start ${command}; install it or give its full path`, address: command },
    cause,
  )

/** The system did not start it. */
export const serveNotStarted = (command: string, cause: Error): TroupeError =>
  'code' in cause && cause.code === 'ENOENT'
    ? serveNotFound(command, cause)
    : new TroupeError(
        {
          tag: 'serve-not-started',
          message: `cannot start ${command}: ${cause.message}; see what this user may still open and start (ulimit -n, ulimit -u)`,
          address: command,
          transient: true,
        },
        cause,
      )

export const serveTimeout = (command: string, afterMs: number, stderr: string): TroupeError =>
  new TroupeError({
    tag: 'serve-timeout',
    message: `${command} did not say within ${afterMs} ms where it serves; it must print HUD_SERVE_PORT=<port>${stderr === '' ? '' : `; its stderr ends with:\n${stderr}`}`,
    address: command,
    transient: true,
  })

/** The process behind a sandbox ended on its own. */
export const serveLost = (command: string, end: ProcessEnd): ErrorData => ({
  tag: 'sandbox-lost',
  message: `${command} ended with ${how(end)} while it served; ${said(end)}`,
  address: command,
  details: { ...end },
  transient: true,
})

export const stillRunning = (command: string, pid: number): TroupeError =>
  new TroupeError({
    tag: 'process-still-running',
    message: `${command} (process ${pid}) did not end after SIGKILL; it hangs in the kernel`,
    address: command,
    details: { pid },
  })

export const environmentMissing = (path: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'environment-missing',
      message: `cannot read the environment file ${path}; check the path`,
      address: path,
    },
    cause,
  )

export const restartLimit = (path: string, restarts: number, cause: ErrorData): TroupeError =>
  new TroupeError({
    tag: 'environment-host-failing',
    message: `the environment host of ${path} died ${restarts} times and is not started again: ${cause.message}`,
    address: path,
    details: { restarts },
    cause,
  })

export const socketPathTooLong = (path: string): TroupeError =>
  new TroupeError({
    tag: 'socket-path-too-long',
    message: `${path} is too long for a Unix socket; set TMPDIR to a shorter directory or use the transport tcp`,
    address: path,
  })

export const runtimeClosed = (name: string): TroupeError =>
  new TroupeError({ tag: 'runtime-closed', message: `the ${name} runtime is closed; make a new one`, address: name })

export const sessionNotEnded = (sessionId: string, address: string): TroupeError =>
  new TroupeError({
    tag: 'session-not-ended',
    message: `${address} did not confirm the end of session ${sessionId}`,
    address,
    details: { sessionId },
  })

export const badAddress = (text: string): TroupeError =>
  new TroupeError({
    tag: 'bad-address',
    message: `"${text}" is not an address; write tcp://host:port or host:port`,
    address: text,
  })

export const nobodyServes = (address: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'nobody-serves',
      message: `no environment answers at ${address}; start it there or correct the address`,
      address,
    },
    cause,
  )

export const provisionCancelled = (id: string, cause: unknown): TroupeError =>
  new TroupeError({ tag: 'provision-cancelled', message: `sandbox ${id} is not wanted any more`, address: id }, cause)

/** `names`: the environments that there are routes for; undefined where a function decides. */
export const noRoute = (task: Pick<Task, 'env' | 'slug'>, names: readonly string[] | undefined): TroupeError =>
  new TroupeError({
    tag: 'no-route',
    message: `no runtime is routed for the environment "${task.env}"; ${names === undefined ? 'the function that routes gave none for the task' : `there ${names.length === 1 ? 'is a route' : 'are routes'} for ${names.join(', ') || 'none'}`}. Add one, or an \`otherwise\``,
    address: task.slug,
  })

export const onlyForTasks = (id: string): TroupeError =>
  new TroupeError({
    tag: 'no-route',
    message: `sandbox ${id} is for no task, and nothing says where such ones are made: give the routed runtime an \`otherwise\``,
    address: id,
  })
