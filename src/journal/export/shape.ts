import type { Journal } from '../journal.ts'
import type { Column } from './columns.ts'
import type { ExportGroup } from './groups.ts'

/** What the rows of an export are. */
export type ExportShapeName = 'runs' | 'messages' | 'tokens' | 'preferences'

/** One kind of row, whatever it is written as. Rows are plain data, as they stand in JSON lines. */
export interface ExportShape<Row> {
  /** For people, in the plural. */
  readonly noun: string
  /** A row after the other: as few as possible of them exist at once. */
  readonly rows: (journal: Journal, group: ExportGroup) => AsyncIterable<Row>
  readonly columns: readonly Column<Row>[]
  /** How much of it there is, in numbers and characters: a batch of rows is bounded by their sum. */
  readonly weigh: (row: Row) => number
}
