import type { CancelTimer, Clock } from '../clock.ts'
import { makeRandom } from '../random.ts'
import { type Crowd, makeCrowd } from './crowd.ts'
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
export const SPREAD = 0.06

/**
 * The same seed and the same order of calls give the same durations. What crowding adds comes after what an operation takes by
 * itself, so that the first of a burst suffers from those that came after it like the last.
 */
export function makeLatency({ seed, clock, signal }: LatencyOptions): Latency {
  const random = makeRandom(seed)
  const pause = makePause(clock, signal)
  const crowds = new Map<Operation, Crowd>()

  return {
    async take(operation, factor = 1) {
      const points = FIGURES[operation]
      const stretch = factor * drawStretch(random, SPREAD)
      // Where crowding adds nothing, nobody asks how many there were.
      if (points.length === 1) {
        await pause(interpolate(points, 1) * stretch)
        return 1
      }
      const crowd = crowds.get(operation) ?? makeCrowd()
      crowds.set(operation, crowd)
      const visit = crowd.enter()
      try {
        const alone = interpolate(points, 1)
        await pause(alone * stretch)
        const crowding = interpolate(points, visit.peak()) - alone
        if (crowding > 0) await pause(crowding * stretch)
        return visit.peak()
      } finally {
        visit.leave()
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

/** How many times as long as usual one operation takes: around 1, by `spread`, and never less than half. */
export const drawStretch = (random: () => number, spread: number): number =>
  Math.max(0.5, 1 + spread * gaussian(random))

/** Standard normal, after Box and Muller. */
export function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
