import { receiptCell, receiptEmpty } from '../receipts/errors.ts'
import { aboutMachine, type Receipt, type ReceiptKind, wantKind } from '../receipts/index.ts'
import {
  HELD,
  LEVEL_FIGURES,
  LEVEL_PHASES,
  type LevelRow,
  MOMENT_FIGURES,
  type MomentRow,
  POOL_COLUMNS,
  type PoolMeasurement,
} from './columns.ts'

export type PoolReceiptKind = Extract<ReceiptKind, 'warmpool' | 'fork-bench'>

const COLUMNS =
  '*_s in seconds, *_ms in milliseconds; ready is from asking until hello was answered; hit_rate counts hits and claims; engine_cpu_ms of one sandbox, getting ready included; rows whose phase is held are what the pool held, at_s from its begin'

/** `about` is what else one needs to make the same again; `complete` is `true`, or `false: why`. */
export function toPoolReceipt(
  kind: PoolReceiptKind,
  { levels, moments }: PoolMeasurement,
  about: Readonly<Record<string, string>>,
  complete: string,
): Receipt {
  return {
    kind,
    about: { ...aboutMachine(), ...about, complete, columns: COLUMNS },
    columns: POOL_COLUMNS,
    rows: [...levels, ...moments.map(moment => ({ phase: HELD, ...moment }))].map(toCells),
  }
}

/** What was measured, from its receipt. Throws `receipt-foreign`, `receipt-cell` naming row and column, and `receipt-empty`; `path` is what they call it. */
export function fromPoolReceipt(receipt: Receipt, kind: PoolReceiptKind, path: string): PoolMeasurement {
  const { rows, lines } = wantKind(receipt, kind, path)
  const levels: LevelRow[] = []
  const moments: MomentRow[] = []
  for (const [index, row] of rows.entries()) {
    const line = lines?.[index] ?? index + 1
    const phase = row.phase ?? ''
    const known = LEVEL_PHASES.find(name => name === phase)
    if (phase === HELD)
      moments.push({ during: row.during ?? '', ...readFigures(row, [...MOMENT_FIGURES, 'parents'], line, path) })
    else if (known !== undefined)
      levels.push({ phase: known, errors: row.errors ?? '', ...readFigures(row, LEVEL_FIGURES, line, path) })
    else throw receiptCell(path, line, 'phase', phase, `one of ${[...LEVEL_PHASES, HELD].join(', ')}`)
  }
  if (levels.length === 0) throw receiptEmpty(path, 'has no level: it was ended before the first')
  return { levels, moments }
}

type Row = Readonly<Record<string, string>>

function readFigures<Column extends string>(
  row: Row,
  columns: readonly Column[],
  line: number,
  path: string,
): { readonly [Name in Column]?: number } {
  const figures: { [Name in Column]?: number } = {}
  for (const column of columns) {
    const text = row[column]?.trim() ?? ''
    if (text === '') continue
    const value = Number(text)
    if (!Number.isFinite(value) || value < 0) throw receiptCell(path, line, column, text, 'a number from 0, or empty')
    figures[column] = value
  }
  return figures
}

/** A tenth of a millisecond is the least that a figure in seconds tells: a pool on this machine leases in less than one. */
const DIGITS = 4

function toCells(row: Readonly<Record<string, string | number>>): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'string' ? value : String(Number(value.toFixed(DIGITS))),
    ]),
  )
}
