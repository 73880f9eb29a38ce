import { baseStock } from './sizing.ts'

const ARRIVALS = 1_024
const REFILLS = 64
/** The refill time that nine creates in ten keep to. */
const REFILL_QUANTILE = 0.9

/**
 * Half of the first batch has arrived, and the rest comes in a moment: too early to say how large a batch is. The history must hold so
 * many requests, and span so many refill times, before it says anything.
 */
const ENOUGH_ARRIVALS = 64
const ENOUGH_REFILLS = 10

/** Measures what `auto` needs: when requests came and how long creates took. Remembers the last 1,024 and 64 of them. */
export interface DemandMeter {
  arrived(now: number): void
  refilled(tookMs: number): void
  /** Sandboxes to hold ready; undefined while too little has been measured. */
  wished(): number | undefined
}

export function makeDemandMeter(): DemandMeter {
  const arrivals: number[] = []
  const refills: number[] = []
  let wished: number | undefined
  let stale = 0
  return {
    arrived(now) {
      arrivals.push(now)
      if (arrivals.length > ARRIVALS) arrivals.shift()
      stale += 1
    },
    refilled(tookMs) {
      refills.push(tookMs)
      if (refills.length > REFILLS) refills.shift()
    },
    wished() {
      // A sixteenth of the history may change before the figure is worked out again.
      if (arrivals.length < ENOUGH_ARRIVALS || stale <= arrivals.length / 16) return wished
      stale = 0
      const sorted = refills.toSorted((left, right) => left - right)
      const refillMs = sorted[Math.ceil(REFILL_QUANTILE * sorted.length) - 1] ?? Number.POSITIVE_INFINITY
      const spanMs = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)
      if (wished !== undefined || spanMs >= ENOUGH_REFILLS * refillMs) wished = baseStock(arrivals, refillMs)
      return wished
    },
  }
}
