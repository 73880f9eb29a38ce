const Z_95 = 1.959963984540054

/** The Wilson score interval at 95 %, as the receipts of trainings state it. The browser cannot import theirs; a test holds the two together. */
export function wilson(passed: number, runs: number): readonly [low: number, high: number] {
  if (runs === 0) return [0, 1]
  const share = passed / runs
  const scale = 1 + Z_95 ** 2 / runs
  const centre = (share + Z_95 ** 2 / (2 * runs)) / scale
  const reach = (Z_95 / scale) * Math.sqrt((share * (1 - share)) / runs + Z_95 ** 2 / (4 * runs ** 2))
  return [Math.max(0, Math.min(share, centre - reach)), Math.min(1, Math.max(share, centre + reach))]
}
