import type { LadderFigure, LadderLevelRow } from '../receipts/ladder-rows.ts'
import { type LadderPoint, toLadderPoints, toSmallSample } from '../receipts/over-repetitions.ts'
import { renderTable } from '../report/table.ts'
import { percent } from '../report/units.ts'

const MS_PER_S = 1_000
/** Marks a percentile of so few samples that it is the largest of them. */
const SMALL = '*'

/**
 * The table of `troupe ladder`: every strategy at every width, medians over the repetitions with the 95 % interval of the mean of the p50s. With others to compare
 * with, the ratio to the same strategy at the same width, or where they have none, to their cold.
 */
export function renderLadder(rows: readonly LadderLevelRow[], others: readonly LadderLevelRow[] = []): string {
  const points = toLadderPoints(rows).toSorted((one, other) => one.n - other.n)
  const compared = toLadderPoints(others)
  const hasOthers = compared.length > 0
  const head = [
    ...['n', 'strategy', 'reps', 'ok', 'failed', 'leaked', 'ready p50 s', '±', 'p95 s', 'max s'],
    ...['lease p50 ms', 'hits', 'fill s', 'CPU ms', 'RSS MiB', 'loop p99 ms'],
    ...(hasOthers ? ['compared s', 'ratio'] : []),
  ]
  const lines = points.map(point => [...toCells(point), ...(hasOthers ? toComparison(point, compared) : [])])
  return [renderTable(head, lines, { left: [1] }), ...notes(points)].join('\n')
}

function toCells(point: LadderPoint): string[] {
  const { n, strategy, rows, ok, failed, leaked } = point
  const ready = point.figure('ready_p50_s')
  const hits = sum(rows.map(({ hits }) => hits ?? 0))
  return [
    String(n),
    strategy,
    String(rows.length),
    String(ok),
    String(failed),
    leaked === undefined ? '–' : String(leaked),
    figure(ready?.median),
    figure(ready?.margin),
    `${text(point, 'ready_p95_s')}${toSmallSample('p95', n) === undefined ? '' : SMALL}`,
    text(point, 'ready_max_s'),
    text(point, 'lease_p50_ms'),
    ok === 0 ? '–' : percent(hits / ok),
    fill(point),
    text(point, 'engine_cpu_ms'),
    text(point, 'rss_peak_mib'),
    text(point, 'loop_p99_ms'),
  ]
}

function toComparison(point: LadderPoint, others: readonly LadderPoint[]): string[] {
  const there = (strategy: string) => others.find(other => other.n === point.n && other.strategy === strategy)
  const theirs = (there(point.strategy) ?? there('cold'))?.figure('ready_p50_s')?.median
  const ours = point.figure('ready_p50_s')?.median
  if (theirs === undefined || ours === undefined) return ['–', '–']
  return [figure(theirs), `${figure(ours / theirs)} ×`]
}

function notes(points: readonly LadderPoint[]): string[] {
  const single = points.some(({ rows }) => rows.length === 1)
  const small = points.filter(({ n }) => toSmallSample('p95', n) !== undefined).map(({ n }) => n)
  const failures = points.flatMap(({ strategy, n, errors }) =>
    [...errors].map(([tag, count]) => `${strategy} at ${n}: ${count} × ${tag}`),
  )
  return [
    "Medians over repetitions; ± is the 95 % interval of the mean over them, by Student's t.",
    ...(single ? ['One repetition has no interval.'] : []),
    ...(small.length === 0
      ? []
      : [`${SMALL} Fewer than 20 samples in a level (${[...new Set(small)].join(', ')} wide): the largest of them.`]),
    ...failures,
  ]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const text = (point: LadderPoint, column: LadderFigure): string => figure(point.figure(column)?.median)

/** What was ready in next to no time was not made ready. */
function fill(point: LadderPoint): string {
  const median = point.figure('fill_s')?.median ?? 0
  return median * MS_PER_S < 100 ? '–' : figure(median)
}

/** Three significant digits, without an exponent; a dash for what is not there. */
function figure(value: number | undefined): string {
  if (value === undefined) return '–'
  if (Math.abs(value) >= 100) return String(Math.round(value))
  return String(Number(value.toPrecision(3)))
}
