import { decimal, roughly } from '../../report/units.ts'

/** How far a command has come: what its bar, its lines and its `progress` events are made of. */
export interface ProgressView {
  /** What is done now, `step 3/10 rollouts` for instance; empty where the unit says it. */
  readonly stage: string
  readonly done: number
  /** Null: nobody can tell. */
  readonly total: number | null
  /** In the plural: `runs`. */
  readonly unit: string
  /** Units a second; null where units differ too much for it to mean something. */
  readonly rate: number | null
  /** Of all that the command does; null as long as nobody can tell. */
  readonly leftMs: number | null
  /** What else is worth a word, the most important first: where there is no room, the last go first. */
  readonly figures: readonly string[]
  /** The same for programs. */
  readonly data: Readonly<Record<string, unknown>>
}

const FULL = '█'
const EMPTY = '░'
/** The bar's own width, by the least number of columns that have room for it. */
const BAR_SIZES = [
  { columns: 80, size: 20 },
  { columns: 50, size: 10 },
  { columns: 30, size: 5 },
] as const

/** A plain line: `step 3/10 rollouts: 12/128 runs, 2.5/s, 47 s left, …`. */
export function toLine(view: ProgressView): string {
  const count = countOf(view)
  return [view.stage === '' ? count : `${view.stage}: ${count}`, ...partsOf(view)].join(', ')
}

/** One line with a bar that is narrower than `columns`, whatever it has to leave out. */
export function toBar(view: ProgressView, columns: number): string {
  // In the last column some terminals begin a new line.
  const room = Math.max(0, columns - 1)
  const bar = barOf(view, BAR_SIZES.find(each => columns >= each.columns)?.size ?? 0)
  const words = [view.stage, countOf(view)].filter(word => word !== '')
  const heads = [[view.stage, bar, countOf(view)].filter(word => word !== ''), words, words.slice(-1)].map(parts =>
    parts.join(' '),
  )
  let line = heads.find(head => widthOf(head) <= room) ?? cut(heads.at(-1) ?? '', room)
  for (const part of partsOf(view)) {
    if (widthOf(line) + widthOf(part) + 2 > room) break
    line += `, ${part}`
  }
  return line
}

/** What a program is told of it. */
export function toProgressData({ stage, done, total, unit, rate, leftMs, data }: ProgressView) {
  return { stage, done, total, unit, rate, leftMs, ...data }
}

function countOf({ done, total, unit }: ProgressView): string {
  return total === null ? `${done} ${unit}` : `${done}/${total} ${unit}`
}

function partsOf({ rate, leftMs, figures }: ProgressView): readonly string[] {
  return [
    ...(rate === null ? [] : [`${decimal(rate, 1)}/s`]),
    ...(leftMs === null ? [] : [`${roughly(leftMs)} left`]),
    ...figures,
  ]
}

function barOf({ done, total }: ProgressView, size: number): string {
  if (total === null) return ''
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const full = Math.floor(share * size)
  return FULL.repeat(full) + EMPTY.repeat(size - full)
}

function widthOf(text: string): number {
  return [...text].length
}

function cut(text: string, width: number): string {
  return [...text].slice(0, width).join('')
}
