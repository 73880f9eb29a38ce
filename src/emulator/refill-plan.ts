import { COUNTED_AHEAD_MS, interpolate, REFILL } from './figures.ts'

/** When a member of a pool is counted, and when it is there, both from the start of the refill. */
export interface PlannedMember {
  readonly countedMs: number
  readonly readyMs: number
}

/** The first members come after a third of the time. */
const LEAD = 0.35
const COUNTED_FIRST_MS = 500

/** The coming of `missing` members. `currentSize` counts each long before it exists: as the provider's does. */
export function planRefill(missing: number, factor: number, random: () => number): readonly PlannedMember[] {
  const wholeMs = interpolate(REFILL, missing) * factor
  return Array.from({ length: missing }, (_, place) => {
    const share = LEAD + (1 - LEAD) * ((place + 1) / missing)
    const readyMs = wholeMs * share * (0.97 + 0.06 * random())
    return { readyMs, countedMs: Math.max(COUNTED_FIRST_MS, readyMs - COUNTED_AHEAD_MS) }
  })
}
