import { setMaxListeners } from 'node:events'
import { type Clock, sleep } from '../clock.ts'
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
  setMaxListeners(0, signal) // one for each operation under way
  const random = makeRandom(seed)
  const underWay = new Map<Operation, Set<{ peak: number }>>()

  return {
    async take(operation, factor = 1) {
      const points = FIGURES[operation]
      const stretch = factor * Math.max(0.5, 1 + SPREAD * gaussian(random))
      const all = underWay.get(operation) ?? new Set()
      underWay.set(operation, all)
      const own = { peak: 0 }
      all.add(own)
      for (const each of all) each.peak = Math.max(each.peak, all.size)
      try {
        const alone = interpolate(points, 1)
        await sleep(clock, alone * stretch, signal)
        await sleep(clock, (interpolate(points, own.peak) - alone) * stretch, signal)
        return own.peak
      } finally {
        all.delete(own)
      }
    },
  }
}

/** Standard normal, after Box and Muller. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
