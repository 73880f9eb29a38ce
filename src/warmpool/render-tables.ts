/** Tables that both commands print, as data: head and rows, for a terminal and for the page. */
import { duration, percent } from '../report/units.ts'
import type { LevelFigure, LevelRow, MomentRow, PoolMeasurement } from './columns.ts'
import { gather, groupBy, median, ratio, total } from './median.ts'

export interface FigureTable {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** What a kind of level had of its own: in a pool, or from parents. */
export type OwnShare = 'found ready' | 'forked'

const SHARES: Readonly<Record<OwnShare, (rows: readonly LevelRow[]) => number | null>> = {
  'found ready': rows => median(rows, 'hit_rate'),
  forked: rows => ratio(total(rows, 'forks'), total(rows, 'ok')),
}

/** Each kind of level by name, over its repetitions, and how many times as long as the first each takes. */
export function toAgainstTable(
  title: string,
  share: OwnShare,
  kinds: ReadonlyMap<string, readonly LevelRow[]>,
): FigureTable {
  const entries = [...kinds].filter(([, rows]) => rows.length > 0)
  const base = entries[0]
  const rows = entries.map(([name, own]) => [
    name,
    inSeconds(median(own, 'ready_p50_s')),
    inSeconds(median(own, 'ready_p95_s')),
    inSeconds(median(own, 'spread_s')),
    percent(SHARES[share](own)),
    duration(toCpuMs(own)),
    duration(toCpuBeforeMs(own)),
    String(total(own, 'failed')),
    String(total(own, 'leaked')),
  ])
  const ratios = entries.slice(1).map(([name, own]) => {
    const times = (figure: LevelFigure) => inTimes(ratio(median(base?.[1] ?? [], figure), median(own, figure)))
    const cpu = inTimes(ratio(toCpuMs(base?.[1] ?? []), toCpuMs(own)))
    return [`${base?.[0]} / ${name}`, times('ready_p50_s'), times('ready_p95_s'), '', '', cpu, '', '', '']
  })
  const head = ['', 'usable p50', 'p95', 'spread', share, 'CPU a sandbox', 'of it before', 'failed', 'leaked']
  return { title, head, rows: [...rows, ...ratios] }
}

/** Of one sandbox, making it ready beforehand included. */
function toCpuMs(rows: readonly LevelRow[]): number | null {
  return median(rows, 'engine_cpu_ms')
}

function toCpuBeforeMs(rows: readonly LevelRow[]): number | null {
  const before = median(rows, 'fill_cpu_ms')
  return before === null ? null : before / (rows[0]?.n ?? 1)
}

/** Batches that did not wait, by their place. */
export function toBatchTable(title: string, share: OwnShare, batches: readonly LevelRow[]): FigureTable {
  const isPool = share === 'found ready'
  const rows = [...groupBy(batches, 'batch')].map(([batch, own]) => [
    String(batch),
    ...(isPool ? [toFound(own), toText(median(own, 'held_creating'))] : []),
    percent(SHARES[share](own)),
    inSeconds(median(own, 'ready_p50_s')),
    inSeconds(median(own, 'ready_p95_s')),
    String(total(own, 'failed')),
  ])
  const own = isPool ? ['found ready', 'on their way', 'hit rate'] : ['forked']
  return { title, head: ['batch', ...own, 'usable p50', 'p95', 'failed'], rows }
}

const toText = (value: number | null): string => (value === null ? '–' : String(Math.round(value)))

/** So many of so many, in the median of the repetitions. */
export function toFound(rows: readonly LevelRow[]): string {
  const n = rows[0]?.n ?? 0
  const found = median(rows, 'hit_rate')
  return found === null ? '–' : `${Math.round(found * n)} of ${n}`
}

const HELD_COLUMNS = [
  ['ready', 'ready'],
  ['creating', 'creating'],
  ['leased', 'leased'],
  ['deleting', 'deleting'],
  ['held_parents', 'parents'],
  ['provider_ready', 'unclaimed at the provider'],
] as const

/** How much of everything there was in each stretch of the time line. */
export function toHeldTable(title: string, moments: readonly MomentRow[]): FigureTable {
  const columns = HELD_COLUMNS.filter(([figure]) => moments.some(moment => moment[figure] !== undefined))
  const rows = [...gather(moments, ({ during }) => during)].map(([during, own]) => [
    during,
    `${(own[0]?.at_s ?? 0).toFixed(1)}–${(own.at(-1)?.at_s ?? 0).toFixed(1)} s`,
    ...columns.map(([figure]) => toRange(own.flatMap(moment => moment[figure] ?? []))),
  ])
  return { title, head: ['during', 'from–to', ...columns.map(([, name]) => name)], rows }
}

/** The first, what went beyond the ends, in the order in which it did, and the last. */
function toRange(values: readonly number[]): string {
  const [first, last] = [values[0], values.at(-1)]
  if (first === undefined || last === undefined) return '–'
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const beyond = [least, most].filter(value => value < Math.min(first, last) || value > Math.max(first, last))
  beyond.sort((one, other) => values.indexOf(one) - values.indexOf(other))
  return [first, ...beyond, last].filter((value, index, all) => value !== all[index - 1]).join(' → ')
}

export const inSeconds = (seconds: number | null): string => duration(seconds === null ? null : seconds * 1_000)
export const inTimes = (times: number | null): string =>
  times === null ? '–' : `× ${times.toFixed(times < 10 ? 2 : 1)}`

/** How one compares with another, in words. */
export const toVerdict = (times: number): string =>
  times < 1 ? 'which is no gain' : `${times.toFixed(times < 10 ? 2 : 1)} times as quick`

/** What has to be said of how sure the figures are. */
export function toCaution({ levels }: PoolMeasurement): string {
  const repetitions = new Set(levels.map(({ rep }) => rep)).size
  return repetitions < 2
    ? 'One repetition: nothing tells how much these figures vary.'
    : `Medians of ${repetitions} repetitions, in turns.`
}

/** Sentences on what went wrong; none where nothing did. */
export function toTrouble({ levels }: PoolMeasurement): readonly string[] {
  const failed = total(levels, 'failed')
  const leaked = total(levels, 'leaked')
  const errors = [...new Set(levels.flatMap(({ errors }) => errors.split(' ').filter(word => word !== '')))]
  return [
    ...(failed > 0 ? [`${failed} of ${failed + total(levels, 'ok')} sandboxes failed.`] : []),
    ...(leaked > 0 ? [`${leaked} sandboxes were left behind.`] : []),
    ...(errors.length > 0 ? [`Errors seen: ${errors.join(', ')}.`] : []),
  ]
}
