export { aboutMachine } from './about.ts'
export { formatReceipt } from './format-receipt.ts'
export { LADDER_COLUMNS, type LadderColumn, PUBLISHED_LADDER_COLUMNS } from './ladder-columns.ts'
export { type LadderFigure, type LadderLevelRow, toErrorCounts, toLadderRows, toStrategyName } from './ladder-rows.ts'
export {
  type LadderPoint,
  type OverRepetitions,
  toLadderPoints,
  toOverRepetitions,
  toSmallSample,
} from './over-repetitions.ts'
export { PUBLISHED_LADDER_NAME, PUBLISHED_LADDER_RECEIPT, PUBLISHED_LADDER_TEXT } from './published-ladder.ts'
export { readReceipt, wantKind } from './read-receipt.ts'
export { RECEIPT_KINDS, type Receipt, type ReceiptKind } from './receipt.ts'
export { readReceiptFile, writeReceipt, writeWhole } from './receipt-file.ts'
