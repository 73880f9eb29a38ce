import type { CancelTimer, Clock } from '../clock.ts'
import { makeRandom } from '../random.ts'
import { FIGURES, interpolate, type Operation } from './figures.ts'

/** Lets operations take their time. */
export interface Latency {
  /**
   * Resolves when the operation would have ended, with the most of its kind that were under way at once meanwhile. `factor`
   * makes it that many times as long. Rejects with the signal's reason.
   */
  take(operation: Operation, factor?: number): Promise<number>
}

export interface LatencyOptions {
  readonly seed: number
  readonly clock: Clock
  /** Ends what is under way. */
  readonly signal: AbortSignal
}

/** Standard deviation of an operation's duration, as a share of it. */
const SPREAD = 0.06

/**
 * The same seed and the same order of calls give the same durations. What crowding adds comes after what an operation takes by
 * itself, so that the first of a burst suffers from those that came after it like the last.
 */
export function makeLatency({ seed, clock, signal }: LatencyOptions): Latency {
  const random = makeRandom(seed)
  const pause = makePause(clock, signal)
  const underWay = new Map<Operation, Set<{ peak: number }>>()

  return {
    async take(operation, factor = 1) {
      const points = FIGURES[operation]
      const stretch = factor * Math.max(0.5, 1 + SPREAD * gaussian(random))
      // Where crowding adds nothing, nobody asks how many there were.
      if (points.length === 1) {
        await pause(interpolate(points, 1) * stretch)
        return 1
      }
      const all = underWay.get(operation) ?? new Set()
      underWay.set(operation, all)
      const own = { peak: 0 }
      all.add(own)
      for (const each of all) each.peak = Math.max(each.peak, all.size)
      try {
        const alone = interpolate(points, 1)
        await pause(alone * stretch)
        const crowding = interpolate(points, own.peak) - alone
        if (crowding > 0) await pause(crowding * stretch)
        return own.peak
      } finally {
        all.delete(own)
      }
    },
  }
}

/** One listener on the signal for all that waits: a listener each makes every one dearer by the number of the others. */
function makePause(clock: Clock, signal: AbortSignal): (ms: number) => Promise<void> {
  const waiting = new Set<{ readonly cancel: CancelTimer; readonly reject: (reason: unknown) => void }>()
  signal.addEventListener('abort', () => {
    for (const { cancel, reject } of waiting) {
      cancel()
      reject(signal.reason)
    }
    waiting.clear()
  })
  return ms =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const cancel = clock.after(ms, () => {
        waiting.delete(own)
        resolve()
      })
      const own = { cancel, reject }
      waiting.add(own)
    })
}

/** Standard normal, after Box and Muller. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
