import { WORKS, type Work } from '../ladder/level.ts'
import { receiptCell, receiptColumnsMissing, receiptEmpty } from './errors.ts'
import { cellOf } from './format-receipt.ts'
import { LADDER_COLUMNS, type LadderColumn } from './ladder-columns.ts'
import { NEEDED_LADDER_COLUMNS, wantKind } from './read-receipt.ts'
import type { Receipt } from './receipt.ts'

type TextColumn = 'mode' | 'work' | 'errors'
type GivenColumn = 'n' | 'ok' | 'failed'
/** Figures that a row may lack. */
export type LadderFigure = Exclude<LadderColumn, TextColumn | GivenColumn>
type Figures = { readonly [Column in LadderFigure]: number | undefined }

/** A row of a ladder by its columns. `ok` is `n` and `failed` 0 where they are not told; `errors` is empty, and `work` is `infra`. */
export type LadderLevelRow = Figures & {
  readonly [Column in GivenColumn]: number
} & { readonly mode: string; readonly work: Work; readonly errors: string }

/** These count things, so they are whole. */
const COUNTS: ReadonlySet<string> = new Set<LadderColumn>([
  'n',
  'rep',
  'ok',
  'failed',
  'hits',
  'colds',
  'claims',
  'forks',
  'creates',
  'create_failures',
  'leaked',
])
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/**
 * The rows of a ladder's receipt with their figures read and checked; columns that no ladder has are passed over. `path` is what errors call it. Throws
 * `receipt-foreign` where it is of another kind, `receipt-columns`, `receipt-cell` naming row and column, and `receipt-empty` where it has no row.
 */
export function toLadderRows(receipt: Receipt, path: string): readonly LadderLevelRow[] {
  const { columns, rows } = wantKind(receipt, 'ladder', path)
  const missing = NEEDED_LADDER_COLUMNS.filter(name => !columns.includes(name))
  if (missing.length > 0) throw receiptColumnsMissing(path, lineOf(receipt, -1), missing, columns)
  if (rows.length === 0) throw receiptEmpty(path, 'has no level: the ladder ended before its first')
  return rows.map((row, index) => toRow(row, lineOf(receipt, index), path))
}

/** What a strategy is called here: published data call the provider's own pool `warm`. */
export function toStrategyName(mode: string): string {
  return mode === 'warm' || mode === 'claim' ? 'provider-pool' : mode
}

/** `errors` as counts by tag; what is not written so is passed over. */
export function toErrorCounts(errors: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of errors.split(/\s+/)) {
    const [, tag, count] = /^(.+):(\d+)$/.exec(word) ?? []
    if (tag !== undefined) counts.set(tag, (counts.get(tag) ?? 0) + Number(count))
  }
  return counts
}

function toRow(row: Readonly<Record<string, string>>, line: number, path: string): LadderLevelRow {
  const figure = (column: LadderColumn): number | undefined => {
    const found = cellOf(row, column).trim()
    if (found === '') return undefined
    const value = NUMBER.test(found) ? Number(found) : Number.NaN
    const refuse = (what: string) => receiptCell(path, line, column, found, what)
    if (!Number.isFinite(value) || value < 0) throw refuse('a number from 0, or empty')
    if (COUNTS.has(column) && !Number.isInteger(value)) throw refuse('a whole number, or empty')
    if (column === 'hit_rate' && value > 1) throw refuse('a share from 0 to 1, or empty')
    return value
  }
  const n = figure('n')
  if (n === undefined || n === 0) throw receiptCell(path, line, 'n', cellOf(row, 'n'), 'a whole number from 1')
  const mode = cellOf(row, 'mode').trim()
  if (mode === '') throw receiptCell(path, line, 'mode', mode, 'the name of a strategy, for instance cold')
  const told = cellOf(row, 'work').trim()
  const work = told === '' ? 'infra' : WORKS.find(known => known === told)
  if (work === undefined) throw receiptCell(path, line, 'work', told, `one of ${WORKS.join(', ')}, or empty`)
  const failed = figure('failed') ?? 0
  const ok = figure('ok') ?? Math.max(0, n - failed)
  const errors = cellOf(row, 'errors').trim()
  const figures = Object.fromEntries(FIGURES.map(column => [column, figure(column)])) as Figures
  return { ...figures, n, mode, work, failed, ok, errors }
}

const isFigure = (column: LadderColumn): column is LadderFigure =>
  !['n', 'mode', 'ok', 'failed', 'work', 'errors'].includes(column)
const FIGURES = LADDER_COLUMNS.filter(isFigure)

/** Where it was read from, or else where `formatReceipt` would write it; -1 is the head. */
function lineOf({ about, lines }: Receipt, index: number): number {
  return lines?.[index] ?? Object.keys(about).length + 3 + index
}
