import type { Clock } from '../../clock.ts'
import { commandTimedOut } from '../../wire/exec-errors.ts'
import { DEFAULT_MAX_OUTPUT_BYTES, readBounded } from '../../wire/exec-output.ts'
import type { CommandOptions, CommandResult } from '../../wire/shell.ts'
import type { RunningProcess } from './process.ts'

/**
 * Feeds a process and reads it to its end. A timeout or an abort kills it, and is reported only once it is gone: rejects with
 * `command-timeout` or the signal's reason. `beside` ends with it, whatever happens.
 */
export async function runToEnd(
  started: RunningProcess,
  options: CommandOptions,
  clock: Clock,
  beside?: RunningProcess,
): Promise<CommandResult> {
  const { timeoutMs, signal, stdin, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options
  let failure: (() => unknown) | undefined
  const stop = (why: () => unknown) => {
    failure ??= why
    started.kill()
    beside?.kill()
  }
  const abort = () => stop(() => signal?.reason)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  const cancel =
    timeoutMs === undefined ? () => {} : clock.after(timeoutMs, () => stop(() => commandTimedOut(timeoutMs)))
  try {
    started.stdin.end(stdin)
    const [stdout, stderr, end] = await Promise.all([
      readBounded(started.stdout, maxOutputBytes),
      readBounded(started.stderr, maxOutputBytes),
      started.ended,
    ])
    if (failure !== undefined) throw failure()
    return { exitCode: end.exitCode, stdout, stderr: end.why === undefined ? stderr : `${stderr}${end.why}\n` }
  } finally {
    cancel()
    signal?.removeEventListener('abort', abort)
    beside?.kill()
    await beside?.ended
  }
}
