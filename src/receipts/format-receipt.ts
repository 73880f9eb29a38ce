import { stringify } from 'csv-stringify/sync'
import type { Receipt } from './receipt.ts'

/** What a reader would trim, take for a comment or end the row at, if it were not in quotes. */
const NEEDS_QUOTES = /^[#\s]|[\r\n]|\s$/

/** The receipt as a file: `# kind: …` first, a line `# key: value` for each thing about it, then the table as CSV. */
export function formatReceipt({ kind, about, columns, rows }: Receipt): string {
  const head = Object.entries({ kind, ...about }).map(([key, value]) => `# ${toKey(key)}: ${toLine(value)}\n`)
  const table = stringify([columns, ...rows.map(row => columns.map(column => cellOf(row, column)))], {
    quoted_match: NEEDS_QUOTES,
    // A row of one empty cell would be an empty line, and those are passed over.
    quoted_empty: columns.length === 1,
  })
  return `${head.join('')}${table}`
}

/** Empty where the row has none. Rows are foreign data: nothing that objects inherit is a cell. */
export function cellOf(row: Readonly<Record<string, string>>, column: string): string {
  return Object.hasOwn(row, column) ? (row[column] ?? '') : ''
}

const toLine = (text: string): string => text.replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, ' ').trim()
const toKey = (text: string): string => toLine(text).replaceAll(':', '-')
