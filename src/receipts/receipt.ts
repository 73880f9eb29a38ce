/** What was measured, as it is kept: a table of text cells, and what else one needs to make the same again. */
export interface Receipt {
  readonly kind: ReceiptKind
  /**
   * In the order in which they are written: `made`, `command`, `complete` (`true`, or `false: why`), versions, `machine`, `load`, `seed`, and
   * what else the measurement itself has to say. Written as lines `# key: value` before the table; values are single lines. `title` is what it is
   * called beside another.
   */
  readonly about: Readonly<Record<string, string>>
  readonly columns: readonly string[]
  /** Cells by column; an absent one is empty. */
  readonly rows: readonly Readonly<Record<string, string>>[]
  /** The line of the file at which each row begins, where the receipt was read from one. Left out when it is written. */
  readonly lines?: readonly number[]
}

/** `ladder` is also what a CSV without `#` lines is taken for, if it has the published columns. */
export const RECEIPT_KINDS = ['ladder', 'warmpool', 'fork-bench', 'bench'] as const
export type ReceiptKind = (typeof RECEIPT_KINDS)[number]
