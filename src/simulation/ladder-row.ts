/**
 * One level of a measured ladder: so many sandboxes asked for at once, and how long until they were ready. `mode` says where they came from: `cold`, `fork`, or
 * `provider-pool` (published: `warm`).
 */
export interface LadderRow {
  readonly n: number
  readonly mode: string
  readonly ok: number
  readonly failed: number
  readonly readyP50S: number
  readonly readyP95S: number
}

/** The published ladder: three repetitions at each width. */
export const PUBLISHED_LADDER: readonly LadderRow[] = (
  [
    [8, 3.28, 3.49],
    [8, 2.78, 3.19],
    [8, 2.8, 2.98],
    [32, 3.16, 3.49],
    [32, 3.3, 3.62],
    [32, 3.27, 4.69],
    [128, 5.05, 5.6],
    [128, 5.17, 8.99],
    [128, 5.09, 6.24],
    [256, 9.85, 10.34],
    [256, 10.02, 10.67],
    [256, 9.9, 11.12],
  ] as const
).map(([n, readyP50S, readyP95S]) => ({ n, mode: 'cold', ok: n, failed: 0, readyP50S, readyP95S }))
