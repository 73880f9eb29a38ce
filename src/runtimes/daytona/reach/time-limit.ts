import { setMaxListeners } from 'node:events'
import { untilAborted } from '../../../bounded.ts'
import type { Clock } from '../../../clock.ts'
import { OPENING_LATE } from './errors.ts'

/** How long a sandbox may take to be reached, and whether it is still wanted. */
export interface TimeLimit {
  /** Aborts with the callers' reason when nobody wants it any more, and with `OPENING_LATE` some time after the deadline. */
  readonly signal: AbortSignal
  /** The time runs from here on. */
  begin(): void
  /** Milliseconds until the deadline, from 1. */
  leftMs(): number
  /** What comes first: the promise, or the end of the limit, which rejects. */
  hold<Value>(promise: Promise<Value>): Promise<Value>
  /** Aborts the signal, unless it has aborted. */
  cut(reason: unknown): void
  /** The limit does not hold any more. */
  release(): void
}

/** After the deadline, so that the last try's own account of it is heard first. */
const OVERTIME_MS = 500

export function makeTimeLimit(
  clock: Clock,
  { deadlineMs, wanted }: { readonly deadlineMs: number; readonly wanted: AbortSignal },
): TimeLimit {
  const controller = new AbortController()
  const { signal } = controller
  setMaxListeners(0, signal) // one for each step that is under way
  let deadlineAt: number | undefined
  let cancel = () => {}
  const stop = () => controller.abort(wanted.reason)
  if (wanted.aborted) stop()
  else wanted.addEventListener('abort', stop, { once: true })

  return {
    signal,
    begin() {
      deadlineAt = clock.now() + deadlineMs
      cancel = clock.after(deadlineMs + OVERTIME_MS, () => controller.abort(OPENING_LATE))
    },
    leftMs: () => Math.max(1, deadlineAt === undefined ? deadlineMs : deadlineAt - clock.now()),
    hold: promise => untilAborted(promise, signal),
    cut: reason => controller.abort(reason),
    release() {
      cancel()
      wanted.removeEventListener('abort', stop)
    },
  }
}
