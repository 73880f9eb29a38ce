import Table from 'cli-table3'
import { type BenchRow, type BenchTable, formatNumber } from '../table.ts'
import { type Added, type Level, MODES, type Mode } from './level.ts'
import { medianOf, toPercentiles } from './percentiles.ts'
import { PUBLISHED_POOL_USABLE_S, PUBLISHED_USABLE_S } from './published.ts'
import { countByTag, type LevelSummary, summarise } from './summary.ts'

const WITHIN = 0.15
const LEASE_AIM_MS = 20
const ADDED_AIM_MS = 150

type Summarised = Level & { readonly summary: LevelSummary }

/** Every mode at every width: medians over the repetitions, as the published ladder took them. */
export function formatLadder(levels: readonly Level[]): string {
  const lines = new Table({
    head: [
      ...['n', 'mode', 'reps', 'ok', 'failed', 'lease p50', 'p95 ms', 'ready p50', 'p95', 'min', 'max', 'spread'],
      ...['wall', 'fill', 'hits', 'claims', 'forks', 'creates', 'leaked', 'CPU ms', 'RSS MiB', 'loop p99', 'max'],
    ],
    colAligns: ['right', 'left', ...Array.from({ length: 21 }, () => 'right' as const)],
    style: { head: [], border: [], compact: true },
  })
  for (const [, each] of groupByCell(levels)) lines.push(toLine(each))
  return lines.toString()
}

function toLine(levels: readonly Summarised[]): string[] {
  const [first] = levels
  if (first === undefined) return []
  const median = (of: (level: Summarised) => number | undefined) => medianOf(levels.flatMap(level => of(level) ?? []))
  const total = (of: (level: Summarised) => number) => levels.reduce((sum, level) => sum + of(level), 0)
  const text = (value: number) => (Number.isNaN(value) ? '' : formatNumber(value))
  const inSeconds = (of: (level: Summarised) => number) => text(median(of) / 1_000)
  const share = (kind: string) => {
    const ok = total(({ samples }) => samples.length)
    const of = total(({ samples }) => samples.filter(sample => sample.kind === kind).length)
    return of === 0 ? '' : `${((of / ok) * 100).toFixed(1)} %`
  }
  return [
    String(first.cell.width),
    first.cell.mode,
    String(levels.length),
    String(total(({ samples }) => samples.length)),
    String(total(({ failures }) => failures.length)),
    text(median(({ summary }) => summary.lease?.p50)),
    text(median(({ summary }) => summary.lease?.p95)),
    inSeconds(({ summary }) => summary.usable.p50),
    inSeconds(({ summary }) => summary.usable.p95),
    inSeconds(({ summary }) => summary.usable.min),
    inSeconds(({ summary }) => summary.usable.max),
    inSeconds(({ summary }) => summary.usable.max - summary.usable.min),
    inSeconds(({ wallMs }) => wallMs),
    text(Math.round(median(({ fillMs }) => fillMs) / 100) / 10),
    share('hit'),
    share('claim'),
    share('fork'),
    String(total(({ summary }) => summary.creates)),
    String(total(({ leaked }) => leaked)),
    text(median(({ cpuMs, cell }) => cpuMs / cell.width)),
    text(median(({ peakRssBytes }) => peakRssBytes / 2 ** 20)),
    text(median(({ loopP99Ms }) => loopP99Ms)),
    text(median(({ loopMaxMs }) => loopMaxMs)),
  ]
}

/** The figures that something is asked of, or that have one to stand beside. */
export function toBenchTable(levels: readonly Level[], title: string): BenchTable {
  const rows: BenchRow[] = []
  const cells = groupByCell(levels)
  const usableOf = (mode: Mode, width: number) => {
    const found = cells.get(`${mode} ${width}`)
    return found === undefined ? undefined : medianOf(found.map(({ summary }) => summary.usable.p50)) / 1_000
  }
  for (const each of cells.values()) {
    const [first] = each
    if (first === undefined) continue
    const { mode, width } = first.cell
    const value = usableOf(mode, width)
    if (value === undefined) continue
    const name = `${mode}, ${width} wide: usable p50`
    if (mode === 'published') rows.push({ name, value, unit: 's', ...againstPublished(value, width) })
    else rows.push({ name, value, unit: 's', ...againstPublishedClient(value, usableOf('published', width)) })
    rows.push(...aimRows(each, mode, width))
  }
  rows.push(...endRows(levels))
  return { title, rows }
}

function againstPublished(value: number, width: number): Partial<BenchRow> {
  const published = PUBLISHED_USABLE_S[width]
  if (published === undefined) return {}
  const ratio = value / published
  const met = Math.abs(ratio - 1) <= WITHIN
  return { reference: `published: ${published} s`, ratio, aim: `within ${WITHIN * 100} %`, met }
}

function againstPublishedClient(value: number, theirs: number | undefined): Partial<BenchRow> {
  return theirs === undefined ? {} : { reference: `published client: ${formatNumber(theirs)} s`, ratio: theirs / value }
}

function aimRows(levels: readonly Summarised[], mode: Mode, width: number): BenchRow[] {
  const rows: BenchRow[] = []
  const lease = medianOf(levels.flatMap(({ summary }) => summary.lease?.p50 ?? []))
  const added = medianOf(levels.flatMap(({ summary }) => summary.added?.p50 ?? []))
  if (mode === 'prewarm')
    rows.push({
      name: '  lease alone p50, nothing else going on',
      value: lease,
      unit: 'ms',
      ...(width === 256 ? { aim: `< ${LEASE_AIM_MS} ms`, met: lease < LEASE_AIM_MS } : {}),
    })
  if (mode !== 'published' && !Number.isNaN(added)) {
    const part = (name: string, of: (added: Added) => number) => ({
      name: `    ${name}`,
      value: medianOf(levels.map(level => toPercentiles(level.added.map(of)).p50)),
      unit: 'ms',
    })
    rows.push(
      {
        name: "  added to the emulator's own time, p50",
        value: added,
        unit: 'ms',
        ...(mode === 'cold' ? { aim: `< ${ADDED_AIM_MS} ms`, met: added < ADDED_AIM_MS } : {}),
      },
      part('before the emulator began', ({ beforeMs }) => beforeMs),
      part('between its steps', ({ betweenMs }) => betweenMs),
      part('from the last of them until usable', ({ afterMs }) => afterMs),
    )
  }
  const pool = PUBLISHED_POOL_USABLE_S[width]
  if (mode === 'provider-pool' && pool !== undefined)
    rows.push({
      name: '  the published client from a warm pool, as published',
      value: pool,
      unit: 's',
    })
  return rows
}

function endRows(levels: readonly Level[]): BenchRow[] {
  const failures = levels.flatMap(level => level.failures)
  const leaked = levels.reduce((sum, level) => sum + level.leaked, 0)
  const creates = levels.reduce((sum, level) => sum + summarise(level).creates, 0)
  return [
    { name: 'sandboxes asked for', value: levels.reduce((sum, { cell }) => sum + cell.width, 0), unit: '' },
    { name: 'creates, claims and forks sent', value: creates, unit: '' },
    { name: 'failed', value: failures.length, unit: 'sandboxes', aim: '0', met: failures.length === 0 },
    ...[...countByTag(failures)].map(([tag, count]) => ({ name: `  ${tag}`, value: count, unit: '' })),
    { name: 'leaked', value: leaked, unit: 'sandboxes', aim: '0', met: leaked === 0 },
  ]
}

function groupByCell(levels: readonly Level[]): ReadonlyMap<string, readonly Summarised[]> {
  const cells = new Map<string, Summarised[]>()
  const ordered = levels.toSorted(
    (one, other) => one.cell.width - other.cell.width || MODES.indexOf(one.cell.mode) - MODES.indexOf(other.cell.mode),
  )
  for (const level of ordered) {
    const key = `${level.cell.mode} ${level.cell.width}`
    const cell = cells.get(key) ?? []
    cell.push({ ...level, summary: summarise(level) })
    cells.set(key, cell)
  }
  return cells
}
