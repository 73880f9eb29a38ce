import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Clock } from '../clock.ts'
import { type ErrorData, fromErrorData } from '../errors.ts'
import { hide, noteSecretsOf } from '../redact.ts'
import type { ListenAddress } from '../wire/address.ts'
import { type ProcessEnd, provisionCancelled, serveFailed, serveNotStarted, serveTimeout } from './errors.ts'
import { guardGroup } from './guard.ts'
import { endGroup } from './process-group.ts'
import { parseServeLine } from './serve-lines.ts'

export interface ServeCommand {
  /** The program, then its arguments. */
  readonly argv: readonly [string, ...string[]]
  /** How messages call it. Default: `argv`. */
  readonly title?: string
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly clock: Clock
  /** Until it says where it serves. */
  readonly startDeadlineMs: number
  /** Between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number
  readonly signal?: AbortSignal
  /**
   * For a program that ends when its stdin closes: sees to it that it does after this process, stopped or stuck as it may be. Default false, for what ends
   * however it is, as on a leash.
   */
  readonly guarded?: boolean
}

/** A process that serves a control channel, at the head of a process group of its own. */
export interface ServeProcess {
  readonly pid: number
  readonly address: ListenAddress
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<ProcessEnd>
  /** Ends the process and its whole group. Safe to call twice. */
  stop(): Promise<void>
}

const STDERR_LINES = 40

/**
 * Starts the process and waits for the line that says where it serves. Rejects with what the process itself reported, or with
 * `serve-failed`, `serve-timeout`, `serve-not-found`, `serve-not-started` or `provision-cancelled`; nothing of it runs then.
 */
export async function startServing(command: ServeCommand): Promise<ServeProcess> {
  const [program, ...args] = command.argv
  const name = command.title ?? command.argv.join(' ')
  if (command.signal?.aborted) throw provisionCancelled(name, command.signal.reason)
  const child = spawn(program, args, {
    // The pipe to its stdin is never written to: it closes when this process ends, however it ends.
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: command.env,
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
  })
  noteSecretsOf(command.env)
  // Heard before anything else is done with it: without descriptors there are no streams, and the error that says so comes at once.
  const failed = new Promise<Error>(resolve => child.once('error', resolve))
  const output = watchOutput(child)
  const exited = new Promise<ProcessEnd>(resolve => {
    child.once('close', (code, signal) => resolve({ code, signal, stderr: output.stderr() }))
  })
  const guard = command.guarded === true && child.pid !== undefined ? guardGroup(child.pid) : undefined
  exited.then(() => guard?.dismiss())
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= endGroup(child, exited, command.clock, command.stopGraceMs).finally(() => guard?.dismiss())
    return stopping
  }
  try {
    const address = await firstOf(command, name, failed, output, exited)
    return { pid: child.pid ?? 0, address, exited, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Output {
  readonly served: Promise<ListenAddress>
  readonly failed: Promise<ErrorData>
  stderr(): string
}

/** Reads both streams to their end, so that the process never blocks on a full pipe. */
function watchOutput(child: ChildProcess): Output {
  const tail: string[] = []
  let serve: (address: ListenAddress) => void
  let fail: (error: ErrorData) => void
  const served = new Promise<ListenAddress>(resolve => {
    serve = resolve
  })
  const failed = new Promise<ErrorData>(resolve => {
    fail = resolve
  })
  // A stdin that the other side has closed is no concern of ours.
  child.stdin?.on('error', () => undefined)
  for (const stream of [child.stdout, child.stderr]) {
    // Undefined, whatever its type says, where the process could not be started.
    if (!stream) continue
    createInterface({ input: stream }).on('line', line => {
      const parsed = parseServeLine(line)
      if (parsed.type === 'served') serve(parsed.address)
      else if (parsed.type === 'failed') fail(parsed.error)
      else if (stream === child.stderr && tail.push(line.slice(0, 1_000)) > STDERR_LINES) tail.shift()
    })
  }
  return { served, failed, stderr: () => hide(tail.join('\n')) }
}

function firstOf(
  { clock, startDeadlineMs, signal }: ServeCommand,
  name: string,
  notStarted: Promise<Error>,
  output: Output,
  exited: Promise<ProcessEnd>,
): Promise<ListenAddress> {
  return new Promise<ListenAddress>((resolve, reject) => {
    const cancelled = () => reject(provisionCancelled(name, signal?.reason))
    const cancelTimer = clock.after(startDeadlineMs, () => reject(serveTimeout(name, startDeadlineMs, output.stderr())))
    signal?.addEventListener('abort', cancelled, { once: true })
    const done = (settle: () => void) => {
      cancelTimer()
      signal?.removeEventListener('abort', cancelled)
      settle()
    }
    notStarted.then(error => done(() => reject(serveNotStarted(name, error))))
    output.served.then(address => done(() => resolve(address)))
    output.failed.then(error => done(() => reject(fromErrorData(error))))
    exited.then(end => done(() => reject(serveFailed(name, end))))
  })
}
