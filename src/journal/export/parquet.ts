import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { ExportShape } from './shape.ts'
import type { ExportSink } from './sink.ts'

const GROUP_ROWS = 1_000
const GROUP_WEIGHT = 2_000_000

/** Writes rows as Parquet, one row group after the other: at most `GROUP_ROWS` rows, or what they weigh, are held. */
export async function writeParquet<Row>(
  rows: AsyncIterable<Row>,
  { columns, weigh }: Pick<ExportShape<Row>, 'columns' | 'weigh'>,
  sink: ExportSink,
): Promise<number> {
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(column => column.schema)],
    createdBy: 'troupe',
  })
  let pending: Row[] = []
  let weight = 0
  let count = 0
  const flush = async () => {
    const columnData = columns.map(({ name, of }) => ({ name, data: pending.map(of) }))
    writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    pending = []
    weight = 0
    await drain(bytes, sink)
  }
  for await (const row of rows) {
    pending.push(row)
    count += 1
    weight += weigh(row)
    if (pending.length >= GROUP_ROWS || weight >= GROUP_WEIGHT) await flush()
  }
  if (pending.length > 0) await flush()
  writer.finish()
  await drain(bytes, sink)
  return count
}

/** Gives what was encoded to the sink and starts the buffer anew; `offset`, the place in the file, goes on. */
async function drain(bytes: ByteWriter, sink: ExportSink): Promise<void> {
  await sink.write(bytes.getBytes())
  bytes.index = 0
}
