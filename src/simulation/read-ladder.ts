import { receiptCell, receiptEmpty } from '../receipts/errors.ts'
import { readReceipt, toLadderRows } from '../receipts/index.ts'
import type { Receipt } from '../receipts/receipt.ts'
import type { LadderRow } from './ladder-row.ts'

/**
 * The levels of a ladder's receipt of which something can be learned: those in which a sandbox became ready. Throws what is wrong with the receipt, naming row and
 * column, and `receipt-empty` when nothing ever became ready.
 */
export function readLadder(text: string, path: string): readonly LadderRow[] {
  return toLadder(readReceipt(text, path), path)
}

/** The same of a receipt that has been read. */
export function toLadder(receipt: Receipt, path: string): readonly LadderRow[] {
  const rows = toLadderRows(receipt, path).flatMap(({ n, mode, ok, failed, ready_p50_s, ready_p95_s }, index) => {
    if (ok === 0) return []
    const needed = (column: string, value: number | undefined): number => {
      if (value !== undefined) return value
      throw receiptCell(path, receipt.lines?.[index] ?? index + 1, column, '', 'the seconds it took')
    }
    const readyP50S = needed('ready_p50_s', ready_p50_s)
    return [{ n, mode, ok, failed, readyP50S, readyP95S: needed('ready_p95_s', ready_p95_s) }]
  })
  if (rows.length === 0) throw receiptEmpty(path, 'has no level in which a sandbox became ready')
  return rows
}
