import hdr from 'hdr-histogram-js'

/** Of durations, in milliseconds; to three significant digits, except `min` and `max`. */
export interface Percentiles {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly min: number
  readonly max: number
}

const MICROSECONDS_PER_MS = 1_000

/** Not a number each, of nothing. */
export function toPercentiles(durationsMs: readonly number[]): Percentiles {
  if (durationsMs.length === 0)
    return { count: 0, p50: Number.NaN, p95: Number.NaN, p99: Number.NaN, min: Number.NaN, max: Number.NaN }
  const histogram = hdr.build({ lowestDiscernibleValue: 1, numberOfSignificantValueDigits: 3, autoResize: true })
  for (const durationMs of durationsMs) histogram.recordValue(Math.max(0, Math.round(durationMs * MICROSECONDS_PER_MS)))
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / MICROSECONDS_PER_MS
  return {
    count: durationsMs.length,
    p50: at(50),
    p95: at(95),
    p99: at(99),
    min: Math.min(...durationsMs),
    max: Math.max(...durationsMs),
  }
}

/** The middle one, as the published figures are taken over repetitions; the mean of the middle two of an even number. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}
