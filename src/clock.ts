/** Stops a timer. Calling it twice, or after the timer fired, does nothing. */
export type CancelTimer = () => void

/** Time as an argument: nothing outside this file and the tests' virtual clock reads the system's time or sets its timers. */
export interface Clock {
  /** Monotonic milliseconds, for durations and deadlines. Not comparable between processes. */
  now(): number
  /** Milliseconds since 1970, for records that people read. */
  wallTime(): number
  /** Calls `wake` once, `delayMs` from now. A pending timer keeps the process alive. */
  after(delayMs: number, wake: () => void): CancelTimer
}

/** The machine's own time, which everything goes by unless it is given another clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  after(delayMs, wake) {
    const timer = setTimeout(wake, delayMs)
    return () => clearTimeout(timer)
  },
}

const HELD_UP_MS = 1
const MOST_READINGS = 3

/** What both clocks say at one moment: read again where this thread was held up between the two. */
export function readBoth(clock: Clock): { readonly now: number; readonly wallTime: number } {
  for (let readings = 1; ; readings += 1) {
    const now = clock.now()
    const wallTime = clock.wallTime()
    if (readings === MOST_READINGS || clock.now() - now < HELD_UP_MS) return { now, wallTime }
  }
}

/** Resolves `delayMs` from now; rejects with the signal's reason as soon as the signal aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    const abort = () => {
      cancel()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
