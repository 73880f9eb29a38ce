import { ladderCell, ladderColumns, ladderEmpty } from './errors.ts'
import type { LadderRow } from './ladder-row.ts'

const COLUMNS = ['n', 'mode', 'ready_p50_s', 'ready_p95_s'] as const

/**
 * The levels of a ladder's receipt: CSV with the published columns, whatever others there are, and lines that begin with `#` left out. A level in which nothing became
 * ready is left out too. Throws `ladder-columns`, `ladder-cell` naming row and column, and `ladder-empty`.
 */
export function readLadder(text: string, path: string): readonly LadderRow[] {
  const lines = text
    .split(/\r?\n/)
    .map((line, index) => ({ cells: line.split(',').map(cell => cell.trim()), row: index + 1, line }))
    .filter(({ line }) => line.trim() !== '' && !line.startsWith('#'))
  const [head, ...body] = lines
  const names = head?.cells ?? []
  const missing = COLUMNS.filter(name => !names.includes(name))
  if (missing.length > 0) throw ladderColumns(path, missing, names)

  const rows = body.flatMap(({ cells, row }) => {
    if (cells.length !== names.length)
      throw ladderCell(path, row, 'n', `${cells.length} cells under ${names.length} columns`)
    const text = (column: string) => cells[names.indexOf(column)] ?? ''
    const number = (column: string, least: number): number => {
      const value = Number(text(column))
      if (text(column) === '' || !Number.isFinite(value) || value < least)
        throw ladderCell(path, row, column, text(column))
      return value
    }
    const count = (column: string, absent: number) => (text(column) === '' ? absent : number(column, 0))
    const n = number('n', 1)
    const ok = count('ok', n)
    if (ok === 0) return []
    return [
      {
        n,
        mode: text('mode'),
        ok,
        failed: count('failed', 0),
        readyP50S: number('ready_p50_s', 0),
        readyP95S: number('ready_p95_s', 0),
      },
    ]
  })
  if (rows.length === 0) throw ladderEmpty(path)
  return rows
}
