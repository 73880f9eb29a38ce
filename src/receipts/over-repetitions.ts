import jstat from 'jstat'
import type { Work } from '../ladder/level.ts'
import { type LadderFigure, type LadderLevelRow, toErrorCounts, toStrategyName } from './ladder-rows.ts'

/** One figure over the repetitions of a level that have it. */
export interface OverRepetitions {
  readonly repetitions: number
  readonly median: number
  readonly mean: number
  /** Half the width of the 95 % confidence interval of the mean, by Student's t; absent where there is one repetition. */
  readonly margin?: number
}

/** All repetitions of one strategy at one width. */
export interface LadderPoint {
  readonly work: Work
  readonly strategy: string
  readonly n: number
  readonly rows: readonly LadderLevelRow[]
  /** Sums over the repetitions. `leaked` is absent where nobody counted. */
  readonly ok: number
  readonly failed: number
  readonly leaked?: number
  /** Provider errors by tag, most frequent first. */
  readonly errors: ReadonlyMap<string, number>
  /** Absent where no repetition has it. */
  figure(column: LadderFigure): OverRepetitions | undefined
}

const CONFIDENCE = 0.95

/** A ladder's points by work, by strategy as first met, and by width from narrow to wide. */
export function toLadderPoints(rows: readonly LadderLevelRow[]): readonly LadderPoint[] {
  const levels = new Map<string, LadderLevelRow[]>()
  for (const row of rows) {
    const key = JSON.stringify([row.work, toStrategyName(row.mode), row.n])
    levels.set(key, [...(levels.get(key) ?? []), row])
  }
  const strategies = [...new Set(rows.map(({ mode }) => toStrategyName(mode)))]
  return [...levels.values()]
    .flatMap(all => (all[0] === undefined ? [] : [toPoint(all[0], all)]))
    .toSorted(
      (one, other) =>
        one.work.localeCompare(other.work) ||
        strategies.indexOf(one.strategy) - strategies.indexOf(other.strategy) ||
        one.n - other.n,
    )
}

/** Median, and the mean with its interval. Absent for no values. */
export function toOverRepetitions(values: readonly number[]): OverRepetitions | undefined {
  const count = values.length
  if (count === 0) return undefined
  const sorted = values.toSorted((one, other) => one - other)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const median = (at(Math.floor(count / 2)) + at(Math.ceil(count / 2) - 1)) / 2
  const mean = sumOf(values) / count
  if (count === 1) return { repetitions: 1, median, mean }
  const variance = sumOf(values.map(value => (value - mean) ** 2)) / (count - 1)
  const t = jstat.jStat.studentt.inv((1 + CONFIDENCE) / 2, count - 1)
  return { repetitions: count, median, mean, margin: t * Math.sqrt(variance / count) }
}

/** Fewer than these, and the percentile of a level is the largest of its samples. */
const ENOUGH_SAMPLES = { p95: 20, p99: 100 } as const

/** `the largest of 8` where a percentile of so many samples is no more than that; undefined where there are enough. */
export function toSmallSample(percentile: keyof typeof ENOUGH_SAMPLES, samples: number): string | undefined {
  if (samples >= ENOUGH_SAMPLES[percentile]) return undefined
  return samples === 1 ? 'the only one' : `the largest of ${samples}`
}

function toPoint({ work, mode, n }: LadderLevelRow, rows: readonly LadderLevelRow[]): LadderPoint {
  const leaked = rows.flatMap(row => row.leaked ?? [])
  const errors = new Map<string, number>()
  for (const row of rows)
    for (const [tag, count] of toErrorCounts(row.errors)) errors.set(tag, (errors.get(tag) ?? 0) + count)
  return {
    work,
    strategy: toStrategyName(mode),
    n,
    rows,
    ok: sumOf(rows.map(({ ok }) => ok)),
    failed: sumOf(rows.map(({ failed }) => failed)),
    ...(leaked.length === 0 ? {} : { leaked: sumOf(leaked) }),
    errors: new Map([...errors].toSorted(([, one], [, other]) => other - one)),
    figure: column => toOverRepetitions(rows.flatMap(row => row[column] ?? [])),
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
