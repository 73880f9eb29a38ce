import type { Clock } from '../../clock.ts'
import { samplingQueueFull, samplingTimeout, serverClosing } from './errors.ts'

/** Completions under way: bounded in number and each in time. */
export interface InFlight {
  /** `gone` is the caller's: it has hung up. Rejects with `queue-full`, `sampling-timeout` or `server-closing`. */
  run<Value>(gone: AbortSignal, body: (signal: AbortSignal) => Promise<Value>): Promise<Value>
  /** Cancels them all and refuses others. */
  close(): void
}

export function makeInFlight(clock: Clock, limit: number, deadlineMs: number): InFlight {
  const closing = new AbortController()
  let count = 0
  return {
    async run(gone, body) {
      if (closing.signal.aborted) throw serverClosing()
      if (count >= limit) throw samplingQueueFull(limit)
      count += 1
      const late = new AbortController()
      const cancel = clock.after(deadlineMs, () => late.abort())
      try {
        return await body(AbortSignal.any([gone, late.signal, closing.signal]))
      } catch (error) {
        if (late.signal.aborted) throw samplingTimeout(deadlineMs)
        if (closing.signal.aborted) throw serverClosing()
        throw error
      } finally {
        count -= 1
        cancel()
      }
    },
    close: () => closing.abort(),
  }
}
