import { TroupeError } from '../errors.ts'
import { RECEIPT_KINDS, type ReceiptKind } from './receipt.ts'

/** How each kind is made; the texts below end in it. */
const MADE_BY: Readonly<Record<ReceiptKind, string>> = {
  ladder: '`troupe ladder` writes one',
  warmpool: '`troupe warmpool` writes one',
  'fork-bench': '`troupe fork-bench` writes one',
  bench: '`npm run bench` writes one',
}

export function receiptUnreadable(path: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'receipt-unreadable',
      address: path,
      message: `${path} cannot be read: ${why}. Name a receipt, a CSV file that is there and that you may read.`,
    },
    cause,
  )
}

export function receiptNotWritten(path: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'receipt-not-written',
      address: path,
      message: `${path} could not be written, and what was there before is as it was. Make room, or name another place.`,
    },
    cause,
  )
}

/** No CSV at all. `found` is what it looks like. */
export function receiptNoCsv(path: string, found: string): TroupeError {
  return new TroupeError({
    tag: 'receipt-foreign',
    address: path,
    message: `${path}, row 1: it is ${found}, and a receipt is a CSV file. ${makeOne('ladder')}`,
    details: { found },
  })
}

export function receiptUnknownKind(path: string, row: number, found: string): TroupeError {
  return new TroupeError({
    tag: 'receipt-foreign',
    address: path,
    message: `${path}, row ${row}: its kind is "${found}", and the kinds known here are ${RECEIPT_KINDS.join(', ')}. A later release may have written it: use that one, or name another receipt.`,
    details: { row, found },
  })
}

export function receiptOtherKind(path: string, found: ReceiptKind, wanted: ReceiptKind): TroupeError {
  return new TroupeError({
    tag: 'receipt-foreign',
    address: path,
    message: `${path} is a receipt of kind ${found}, and one of kind ${wanted} is wanted here. ${makeOne(wanted)}`,
    details: { found, wanted },
  })
}

export function receiptColumnsMissing(
  path: string,
  row: number,
  missing: readonly string[],
  found: readonly string[],
): TroupeError {
  const some = `${found.slice(0, 8).join(', ')}${found.length > 8 ? ', …' : ''}`
  return new TroupeError({
    tag: 'receipt-columns',
    address: path,
    message: `${path} is no receipt of a ladder: it has no column ${missing.join(', ')} (row ${row} has ${some || 'none'}). ${makeOne('ladder')} A CSV with the columns n, mode, ready_p50_s and ready_p95_s will do.`,
    details: { row, missing, found },
  })
}

export function receiptColumnTwice(path: string, row: number, column: string): TroupeError {
  return new TroupeError({
    tag: 'receipt-columns',
    address: path,
    message: `${path}: row ${row} has the column "${column}" twice, so that its figures cannot be told apart. Rename one of them or leave it out.`,
    details: { row, column },
  })
}

/** `what` says what should be there: `a number from 0`. */
export function receiptCell(path: string, row: number, column: string, found: string, what: string): TroupeError {
  return new TroupeError({
    tag: 'receipt-cell',
    address: path,
    message: `${path}: row ${row}, column ${column} is "${shorten(found)}", and should be ${what}. Mend that cell, or leave the row out with a # in front.`,
    details: { row, column, found },
  })
}

/** A row that is not cut into as many cells as there are columns, or whose quotes do not close. */
export function receiptRow(path: string, row: number, column: string, problem: string): TroupeError {
  return new TroupeError({
    tag: 'receipt-cell',
    address: path,
    message: `${path}: row ${row}, column ${column}: ${problem}. Mend that row, or leave it out with a # in front.`,
    details: { row, column, problem },
  })
}

export function receiptEmpty(path: string, what: string): TroupeError {
  return new TroupeError({
    tag: 'receipt-empty',
    address: path,
    message: `${path} ${what}. Name another receipt, or make this one again with the command it tells.`,
  })
}

const makeOne = (kind: ReceiptKind): string => `Name another file: ${MADE_BY[kind]}.`

const shorten = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 59)}…`)
