import { cellOf } from '../../receipts/format-receipt.ts'
import type { LadderFigure } from '../../receipts/ladder-rows.ts'
import { type LadderPoint, type OverRepetitions, toSmallSample } from '../../receipts/over-repetitions.ts'
import { toLook } from './strategies.ts'
import { toSwatch } from './style.ts'
import type { Views } from './view.ts'
import { escapeText, toFigure, toSooner } from './words.ts'

interface Column {
  readonly head: string
  readonly says: string
  readonly cell: (point: LadderPoint) => string
}

/** All levels, medians over their repetitions; columns that nobody measured are left out. */
export function toLevelsTable(views: Views): string {
  const { points } = views.own
  const several = views.works.length > 1
  const columns = COLUMNS.filter(({ cell }) => points.some(point => cell(point) !== NOTHING))
  const head = columns.map(
    ({ head, says }) => `<th scope="col"><abbr title="${escapeText(says)}">${escapeText(head)}</abbr></th>`,
  )
  const rows = points.map((point, index) => {
    const { name, colour } = toLook(point.strategy, views.strategies)
    const first = points[index - 1]?.strategy !== point.strategy
    const what = several ? `${name}, ${point.work}` : name
    const cells = columns.map(({ cell }) => `<td>${cell(point)}</td>`)
    return `<tr${first ? ' class="first"' : ''}><th scope="row">${toSwatch(colour)}${escapeText(what)}</th>${cells.join('')}</tr>`
  })
  return toTable(
    'All levels: medians over repetitions, and the 95 % interval of the mean as ±',
    `<th scope="col">strategy</th>${head.join('')}`,
    rows,
  )
}

/** Ours against theirs at each width that both have: of the same strategy, or else of their cold. */
export function toComparisonTable(views: Views): string {
  const { own, other } = views
  const rows = own.points.flatMap(point => {
    const there = (strategy: string) =>
      other?.points.find(each => each.work === point.work && each.n === point.n && each.strategy === strategy)
    const theirs = there(point.strategy) ?? there('cold')
    const [ours, its] = [point, theirs].map(each => each?.figure('ready_p50_s'))
    if (theirs === undefined || ours === undefined || its === undefined) return []
    const { name, colour } = toLook(point.strategy, views.strategies)
    const against = toLook(theirs.strategy, views.strategies).name
    return [
      `<tr><th scope="row">${toSwatch(colour)}${escapeText(name)}</th><td>${point.n}</td><td>${toInterval(ours)}</td><td class="text">${escapeText(against)}</td><td>${toInterval(its)}</td><td>${toFigure(ours.median / its.median, 2)}</td><td class="text">${toSooner(ours.median, its.median)}</td></tr>`,
    ]
  })
  if (other === undefined) return ''
  if (rows.length === 0) return `<p>No width is in both receipts, so there are no ratios.</p>`
  const head = `<th scope="col">strategy</th><th scope="col">at once</th><th scope="col">ready p50 s</th><th scope="col" class="text">against</th><th scope="col">p50 s there</th><th scope="col">ratio</th><th scope="col" class="text">in words</th>`
  return toTable('p50 until ready at the widths that both have; the ratio is ours to theirs', head, rows)
}

/** The rows as they are in the receipt, columns that are empty throughout left out. */
export function toRepetitionsTable({ own }: Views): string {
  const { columns, rows } = own.receipt
  const filled = columns.filter(column => rows.some(row => cellOf(row, column) !== ''))
  const body = rows.map(
    row => `<tr>${filled.map(column => `<td>${escapeText(cellOf(row, column))}</td>`).join('')}</tr>`,
  )
  const head = filled.map(column => `<th scope="col">${escapeText(column)}</th>`).join('')
  return toTable('Every repetition, as the receipt has it', head, body)
}

/** Provider errors by kind, retried ones included; empty where there was none. */
export function toErrorsTable(views: Views): string {
  const rows = views.own.points.flatMap(({ strategy, n, errors }) => {
    const { name, colour } = toLook(strategy, views.strategies)
    return [...errors].map(
      ([tag, count]) =>
        `<tr><th scope="row">${toSwatch(colour)}${escapeText(name)}</th><td>${n}</td><td class="text">${escapeText(tag)}</td><td>${toFigure(count)}</td></tr>`,
    )
  })
  if (rows.length === 0) return ''
  const head = `<th scope="col">strategy</th><th scope="col">at once</th><th scope="col" class="text">kind</th><th scope="col">times</th>`
  return toTable('Provider errors by kind, over all repetitions, retried ones included', head, rows)
}

function toTable(caption: string, head: string, rows: readonly string[]): string {
  const label = escapeText(caption)
  return `<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table><caption>${label}</caption><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div>`
}

const NOTHING = '–'

const median = (column: LadderFigure) => (point: LadderPoint) => toFigure(point.figure(column)?.median)
const interval = (column: LadderFigure) => (point: LadderPoint) => toInterval(point.figure(column))

function toInterval(figure: OverRepetitions | undefined): string {
  if (figure === undefined) return NOTHING
  const margin = figure.margin === undefined ? '' : ` <span class="margin">± ${toFigure(figure.margin, 2)}</span>`
  return `${toFigure(figure.median)}${margin}`
}

/** Of fewer samples than it takes, a percentile is the largest of them: the cell says so. */
function percentile(column: LadderFigure, share: 'p95' | 'p99') {
  return (point: LadderPoint): string => {
    const value = toFigure(point.figure(column)?.median)
    const few = toSmallSample(share, Math.min(...point.rows.map(({ ok }) => ok)))
    return few === undefined || value === NOTHING ? value : `${value} <span class="few">${few}</span>`
  }
}

const alarm = (count: number | undefined): string =>
  count === undefined ? NOTHING : count === 0 ? '0' : `<strong class="alarm">${toFigure(count)}</strong>`

function hitRate(point: LadderPoint): string {
  const { median: share } = point.figure('hit_rate') ?? {}
  return share === undefined ? NOTHING : `${toFigure(share * 100)} %`
}

const COLUMNS: readonly Column[] = [
  { head: 'at once', says: 'asked for at the same time', cell: ({ n }) => String(n) },
  { head: 'reps', says: 'repetitions', cell: ({ rows }) => String(rows.length) },
  { head: 'ok', says: 'became ready, over all repetitions', cell: ({ ok }) => toFigure(ok) },
  { head: 'failed', says: 'never became ready, over all repetitions', cell: ({ failed }) => alarm(failed) },
  { head: 'leaked', says: 'still there after all were given back, and nobody’s', cell: ({ leaked }) => alarm(leaked) },
  { head: 'ready p50 s', says: 'from asking until hello was answered', cell: interval('ready_p50_s') },
  { head: 'p95 s', says: '95th percentile until ready', cell: percentile('ready_p95_s', 'p95') },
  { head: 'p99 s', says: '99th percentile until ready', cell: percentile('ready_p99_s', 'p99') },
  { head: 'max s', says: 'the last one until ready', cell: median('ready_max_s') },
  { head: 'lease p50 ms', says: 'until the pool handed it out', cell: median('lease_p50_ms') },
  { head: 'hello p50 ms', says: 'from there until hello was answered', cell: median('hello_p50_ms') },
  { head: 'hit rate', says: 'share that was ready when it was asked for', cell: hitRate },
  { head: 'fill s', says: 'until what is held ready was', cell: median('fill_s') },
  { head: 'rollouts/s', says: 'whole rollouts a second', cell: interval('rollouts_per_s') },
  { head: 'CPU ms', says: 'of the engine, for each', cell: interval('engine_cpu_ms') },
  { head: 'RSS MiB', says: 'of the engine above rest, for each at once', cell: median('rss_mib') },
  { head: 'loop p99 ms', says: 'delay of the main thread’s loop', cell: median('loop_p99_ms') },
  { head: 'wall s', says: 'until all were given back', cell: median('wall_s') },
]
