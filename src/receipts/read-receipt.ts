import { CsvError, parse } from 'csv-parse/sync'
import {
  receiptColumnsMissing,
  receiptColumnTwice,
  receiptEmpty,
  receiptNoCsv,
  receiptOtherKind,
  receiptRow,
  receiptUnknownKind,
} from './errors.ts'
import { RECEIPT_KINDS, type Receipt, type ReceiptKind } from './receipt.ts'

/** Without these a ladder tells nothing; whatever else is published may be missing. */
export const NEEDED_LADDER_COLUMNS: readonly string[] = ['n', 'mode', 'ready_p50_s', 'ready_p95_s']

interface Line {
  readonly cells: readonly string[]
  readonly row: number
}

/**
 * A receipt from its text. Lines that begin with `#` are about it where they stand before the table, and left out where they stand in it. Without a
 * `# kind:` it is a ladder, if it has a ladder's columns. `path` is what errors call it. Throws `receipt-foreign`, `receipt-columns`, `receipt-cell` and
 * `receipt-empty`.
 */
export function readReceipt(text: string, path: string): Receipt {
  const foreign = toForeign(text)
  if (foreign !== undefined) throw receiptNoCsv(path, foreign)
  const { kind: told, ...about } = readAbout(text)
  const kind = RECEIPT_KINDS.find(known => known === told?.value)
  if (told !== undefined && kind === undefined) throw receiptUnknownKind(path, told.row, told.value)
  const [head, ...body] = parseLines(text, path)
  if (head === undefined) throw receiptEmpty(path, 'holds no table')
  if (kind === undefined || kind === 'ladder') requireColumns(head, NEEDED_LADDER_COLUMNS, path)
  const twice = head.cells.find((name, index) => head.cells.indexOf(name) !== index)
  if (twice !== undefined) throw receiptColumnTwice(path, head.row, twice)
  for (const line of body) requireWhole(line, head, path)
  return {
    kind: kind ?? 'ladder',
    about: Object.fromEntries(Object.entries(about).map(([key, { value }]) => [key, value])),
    columns: head.cells,
    rows: body.map(({ cells }) => Object.fromEntries(head.cells.map((name, index) => [name, cells[index] ?? '']))),
    lines: body.map(({ row }) => row),
  }
}

/** The same receipt, if it is of the kind that is wanted. Throws `receipt-foreign`. */
export function wantKind(receipt: Receipt, kind: ReceiptKind, path: string): Receipt {
  if (receipt.kind !== kind) throw receiptOtherKind(path, receipt.kind, kind)
  return receipt
}

/** The first of each key counts. */
function readAbout(text: string): Record<string, { readonly value: string; readonly row: number }> {
  const found = new Map<string, { readonly value: string; readonly row: number }>()
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '') continue
    if (!line.startsWith('#')) break
    const [, key = '', value = ''] = /^#\s*([^:]*):(.*)$/.exec(line) ?? []
    if (key.trim() !== '' && !found.has(key.trim())) found.set(key.trim(), { value: value.trim(), row: index + 1 })
  }
  return Object.fromEntries(found)
}

function parseLines(text: string, path: string): readonly Line[] {
  const lines: Line[] = []
  /** Breaks of two characters within quotes are counted twice by the parser. */
  let tooMany = 0
  try {
    parse(text, {
      bom: true,
      comment: '#',
      comment_no_infix: true,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record(cells: string[], at) {
        // A record is told with the line on which it ends.
        const ends = at.lines - tooMany - count(cells, '\r\n')
        lines.push({ cells, row: ends - count(cells, '\n') })
        tooMany += count(cells, '\r\n')
        return null
      },
    })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { row, column } = toPlace(error, text)
    throw receiptRow(path, row, column, toProblem(error))
  }
  return lines
}

const count = (cells: readonly string[], what: string): number =>
  cells.reduce((sum, cell) => sum + cell.split(what).length - 1, 0)

function toPlace(error: CsvError, text: string): { readonly row: number; readonly column: string } {
  const row = typeof error.lines === 'number' ? error.lines : 1
  const index = typeof error.column === 'number' ? error.column : 0
  const head = text.split(/\r?\n/).find(line => line.trim() !== '' && !line.startsWith('#'))
  return { row, column: head?.split(',')[index]?.trim() || String(index + 1) }
}

function toProblem({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote opens there that never closes'
  if (code === 'INVALID_OPENING_QUOTE') return 'a quote stands in the middle of a cell'
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return 'something follows the closing quote of a cell'
  return `it is no CSV (${code})`
}

function requireColumns({ cells, row }: Line, needed: readonly string[], path: string): void {
  const missing = needed.filter(name => !cells.includes(name))
  if (missing.length > 0) throw receiptColumnsMissing(path, row, missing, cells)
}

function requireWhole({ cells, row }: Line, head: Line, path: string): void {
  if (cells.length === head.cells.length) return
  const column = head.cells[Math.min(cells.length, head.cells.length - 1)] ?? ''
  throw receiptRow(path, row, column, `there are ${cells.length} cells under ${head.cells.length} columns`)
}

/** What files that people name by mistake look like. */
function toForeign(text: string): string | undefined {
  const start = text.slice(0, 4_096).trimStart()
  if (start.includes('\0') || start.includes('\uFFFD')) return 'no text'
  if (/^[[{]/.test(start)) return 'JSON, it seems'
  if (/^<[!?a-z]/i.test(start)) return 'HTML or SVG, it seems'
  return undefined
}
