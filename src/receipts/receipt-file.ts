import { readFile, stat } from 'node:fs/promises'
import { hide } from '../redact.ts'
import { replaceFile } from '../replace-file.ts'
import { receiptNotWritten, receiptUnreadable } from './errors.ts'
import { formatReceipt } from './format-receipt.ts'
import { readReceipt } from './read-receipt.ts'
import type { Receipt } from './receipt.ts'

/** Far more than any receipt; what is larger is another file, named by mistake. */
const MAX_BYTES = 32 * 2 ** 20

/** Replaces the file in one move: a reader, or whoever comes after a kill, finds the old receipt or the new. Rejects with `receipt-not-written`. */
export async function writeReceipt(path: string, receipt: Receipt): Promise<void> {
  await writeWhole(path, formatReceipt(receipt))
}

/** The same for a page or a picture of a receipt. Rejects with `receipt-not-written`. */
export async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, hide(text))
  } catch (error) {
    throw receiptNotWritten(path, error)
  }
}

/** Rejects with `receipt-unreadable`, and with what `readReceipt` throws. */
export async function readReceiptFile(path: string): Promise<Receipt> {
  return readReceipt(await readText(path), path)
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES)
      throw receiptUnreadable(path, `it has ${Math.round(size / 2 ** 20)} MiB, far more than a receipt`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw receiptUnreadable(path, WHY[String(error.code)] ?? error.message, error)
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'you may not read it',
}
