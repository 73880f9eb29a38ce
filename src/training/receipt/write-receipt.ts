import { join } from 'node:path'
import { makeReceipt, type Receipt, type ReceiptHead, type TrainingRecords } from './receipt.ts'
import { formatReceipt, writeWhole } from './receipt-file.ts'

export const RECEIPT_FILE = 'train_run.json'
export const CURVE_FILE = 'train_curve.svg'

export interface WrittenReceipt {
  readonly receipt: Receipt
  readonly receiptPath: string
  readonly curvePath: string
}

/**
 * Writes both files anew from all records so far, each in one move; so a training that goes on appends to what an earlier
 * process left, and doubles nothing. Rejects with `receipt-not-written`.
 */
export async function writeReceipt(
  directory: string,
  head: ReceiptHead,
  records: TrainingRecords,
): Promise<WrittenReceipt> {
  const receipt = makeReceipt(head, records)
  const receiptPath = join(directory, RECEIPT_FILE)
  const curvePath = join(directory, CURVE_FILE)
  await writeWhole(receiptPath, formatReceipt(receipt))
  // The drawing library is large; nothing but a curve needs it.
  const { drawCurve } = await import('./curve.ts')
  await writeWhole(curvePath, drawCurve(receipt))
  return { receipt, receiptPath, curvePath }
}
