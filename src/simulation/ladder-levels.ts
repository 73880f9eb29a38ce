import type { SandboxOrigin } from '../runtimes/runtime.ts'
import type { LadderRow } from './ladder-row.ts'
import { ascending, quantile } from './quantile.ts'

/** A width at which sandboxes of one origin were measured: medians over its repetitions. */
export interface LadderLevel {
  readonly width: number
  readonly p50Ms: number
  /** By how much the 95th percentile is above the median, as a share of it. */
  readonly excess: number
}

const ORIGINS: Readonly<Record<string, SandboxOrigin>> = {
  cold: 'cold',
  'provider-pool': 'claim',
  warm: 'claim',
  claim: 'claim',
  fork: 'fork',
}

/** Widths in ascending order; rows of other modes, such as those that were ready beforehand, tell nothing of how long making takes. */
export function toLevels(rows: readonly LadderRow[], origin: SandboxOrigin): readonly LadderLevel[] {
  const own = rows.filter(({ mode }) => ORIGINS[mode] === origin)
  return ascending([...new Set(own.map(({ n }) => n))]).map(width => {
    const repetitions = own.filter(({ n }) => n === width)
    const median = (value: (row: LadderRow) => number) => quantile(ascending(repetitions.map(value)), 0.5)
    return {
      width,
      p50Ms: 1_000 * median(({ readyP50S }) => readyP50S),
      excess: median(({ readyP50S, readyP95S }) => readyP95S / readyP50S - 1),
    }
  })
}
