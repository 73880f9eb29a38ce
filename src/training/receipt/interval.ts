const Z_95 = 1.959963984540054

/** A share's confidence interval, from 0 to 1. */
export type Interval = readonly [low: number, high: number]

/**
 * The Wilson score interval at 95 % of `passed` out of `runs` independent tries (Wilson 1927, J. Am. Stat. Assoc. 22). It stays within
 * 0 and 1 and is not empty at either end; of nothing it is the whole range. Attempts at one task are alike, so the true
 * uncertainty of a pass rate over few tasks is larger than it says.
 */
export function wilsonInterval(passed: number, runs: number): Interval {
  if (runs === 0) return [0, 1]
  const share = passed / runs
  const scale = 1 + Z_95 ** 2 / runs
  const centre = (share + Z_95 ** 2 / (2 * runs)) / scale
  const reach = (Z_95 / scale) * Math.sqrt((share * (1 - share)) / runs + Z_95 ** 2 / (4 * runs ** 2))
  return [Math.max(0, Math.min(share, centre - reach)), Math.min(1, Math.max(share, centre + reach))]
}
