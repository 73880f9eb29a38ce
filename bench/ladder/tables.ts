import { type Level, STRATEGIES } from '../../src/ladder/level.ts'
import { medianOf, toPercentiles } from '../../src/ladder/percentiles.ts'
import { summarise } from '../../src/ladder/summary.ts'
import { PUBLISHED_LADDER_RECEIPT, toLadderPoints, toLadderRows } from '../../src/receipts/index.ts'
import { type BenchRow, type BenchTable, formatNumber } from '../table.ts'
import type { Added, MeasuredLevel } from './added.ts'
import { PUBLISHED } from './options.ts'

const WITHIN = 0.15
const LEASE_AIM_MS = 20
const ADDED_AIM_MS = 150
/** Medians of the published walkthrough from the provider's own pool, in seconds: told in its text, not in its rows. */
const PUBLISHED_POOL_USABLE_S: Readonly<Record<number, number>> = { 128: 4.4, 256: 7.3 }

/** The figures that something is asked of, or that have one to stand beside. */
export function toBenchTable(levels: readonly MeasuredLevel[], title: string): BenchTable {
  const rows: BenchRow[] = []
  const cells = groupByCell(levels)
  const usableOf = (strategy: string, width: number) => {
    const found = cells.get(`${strategy} ${width}`)
    return found === undefined ? undefined : medianOf(found.map(level => summarise(level).usable.p50)) / 1_000
  }
  for (const each of cells.values()) {
    const [first] = each
    if (first === undefined) continue
    const { strategy, width } = first.cell
    const value = usableOf(strategy, width)
    if (value === undefined) continue
    const name = `${strategy === PUBLISHED ? 'as the published client' : strategy}, ${width} wide: usable p50`
    if (strategy === PUBLISHED) rows.push({ name, value, unit: 's', ...againstPublished(value, width) })
    else rows.push({ name, value, unit: 's', ...againstPublishedClient(value, usableOf(PUBLISHED, width)) })
    rows.push(...aimRows(each, strategy, width))
  }
  rows.push(...endRows(levels))
  return { title, rows }
}

function againstPublished(value: number, width: number): Partial<BenchRow> {
  const published = publishedUsableS(width)
  if (published === undefined) return {}
  const ratio = value / published
  const met = Math.abs(ratio - 1) <= WITHIN
  return { reference: `published: ${formatNumber(published)} s`, ratio, aim: `within ${WITHIN * 100} %`, met }
}

/** The median of its three. */
function publishedUsableS(width: number): number | undefined {
  const points = toLadderPoints(toLadderRows(PUBLISHED_LADDER_RECEIPT, 'published'))
  return points.find(({ n }) => n === width)?.figure('ready_p50_s')?.median
}

function againstPublishedClient(value: number, theirs: number | undefined): Partial<BenchRow> {
  return theirs === undefined ? {} : { reference: `published client: ${formatNumber(theirs)} s`, ratio: theirs / value }
}

function aimRows(levels: readonly MeasuredLevel[], strategy: string, width: number): BenchRow[] {
  const rows: BenchRow[] = []
  const lease = medianOf(levels.flatMap(level => summarise(level).stages.get('lease')?.p50 ?? []))
  const withAdded = levels.filter(({ added }) => added.length > 0)
  const addedP50 = (of: (added: Added) => number) =>
    medianOf(withAdded.map(({ added }) => toPercentiles(added.map(of)).p50))
  if (strategy === 'prewarm')
    rows.push({
      name: '  lease alone p50, nothing else going on',
      value: lease,
      unit: 'ms',
      ...(width === 256 ? { aim: `< ${LEASE_AIM_MS} ms`, met: lease < LEASE_AIM_MS } : {}),
    })
  if (strategy !== PUBLISHED && withAdded.length > 0) {
    const added = addedP50(({ totalMs }) => totalMs)
    const part = (name: string, of: (added: Added) => number) => ({
      name: `    ${name}`,
      value: addedP50(of),
      unit: 'ms',
    })
    rows.push(
      {
        name: "  added to the emulator's own time, p50",
        value: added,
        unit: 'ms',
        ...(strategy === 'cold' ? { aim: `< ${ADDED_AIM_MS} ms`, met: added < ADDED_AIM_MS } : {}),
      },
      part('before the emulator began', ({ beforeMs }) => beforeMs),
      part('between its steps', ({ betweenMs }) => betweenMs),
      part('from the last of them until usable', ({ afterMs }) => afterMs),
    )
  }
  const pool = PUBLISHED_POOL_USABLE_S[width]
  if (strategy === 'provider-pool' && pool !== undefined)
    rows.push({ name: '  the published client from a warm pool, as published', value: pool, unit: 's' })
  return rows
}

function endRows(levels: readonly Level[]): BenchRow[] {
  const sum = (of: (level: Level) => number) => levels.reduce((total, level) => total + of(level), 0)
  const failed = sum(({ failures }) => failures.length)
  const leaked = sum(level => level.leaked)
  const creates = sum(({ pool, samples, failures }) => pool?.created ?? samples.length + failures.length)
  const tags = new Map<string, number>()
  for (const { errors } of levels)
    for (const [tag, count] of Object.entries(errors)) tags.set(tag, (tags.get(tag) ?? 0) + count)
  return [
    { name: 'sandboxes asked for', value: sum(({ cell }) => cell.width), unit: '' },
    { name: 'creates, claims and forks sent', value: creates, unit: '' },
    { name: 'failed', value: failed, unit: 'sandboxes', aim: '0', met: failed === 0 },
    ...[...tags].map(([tag, count]) => ({ name: `  ${tag}`, value: count, unit: '' })),
    { name: 'leaked', value: leaked, unit: 'sandboxes', aim: '0', met: leaked === 0 },
  ]
}

const ORDER: readonly string[] = [PUBLISHED, ...STRATEGIES]

function groupByCell(levels: readonly MeasuredLevel[]): ReadonlyMap<string, readonly MeasuredLevel[]> {
  const ordered = levels.toSorted(
    ({ cell: one }, { cell: other }) =>
      one.width - other.width || ORDER.indexOf(one.strategy) - ORDER.indexOf(other.strategy),
  )
  const cells = new Map<string, MeasuredLevel[]>()
  for (const level of ordered) {
    const key = `${level.cell.strategy} ${level.cell.width}`
    cells.set(key, [...(cells.get(key) ?? []), level])
  }
  return cells
}
