/** The value that `share` of all keep to, of numbers in ascending order; NaN of none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export const ascending = (values: readonly number[]): number[] => values.toSorted((left, right) => left - right)

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length
