import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { ExportRow, ExportTokens } from './export-row.ts'
import type { ExportSink } from './export-sink.ts'

/**
 * Writes rows as Parquet, one row group after the other: at most `GROUP_ROWS` rows or `GROUP_TOKENS` token ids are held. Free-form
 * fields are JSON columns; token ids and logprobs are a list for each turn, null for a turn without tokens.
 */
export async function writeParquet(rows: AsyncIterable<ExportRow>, sink: ExportSink): Promise<number> {
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: COLUMNS.length }, ...COLUMNS.flatMap(column => column.schema)],
    createdBy: 'troupe',
  })
  let pending: ExportRow[] = []
  let tokens = 0
  let count = 0
  const flush = async () => {
    const columnData = COLUMNS.map(({ name, of }) => ({ name, data: pending.map(of) }))
    writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    pending = []
    tokens = 0
    await drain(bytes, sink)
  }
  for await (const row of rows) {
    pending.push(row)
    count += 1
    tokens += countTokens(row)
    if (pending.length >= GROUP_ROWS || tokens >= GROUP_TOKENS) await flush()
  }
  if (pending.length > 0) await flush()
  writer.finish()
  await drain(bytes, sink)
  return count
}

const GROUP_ROWS = 1_000
const GROUP_TOKENS = 2_000_000

interface Column {
  readonly name: string
  readonly schema: readonly SchemaElement[]
  readonly of: (row: ExportRow) => unknown
}

const COLUMNS: readonly Column[] = [
  text('run_id', row => row.run_id),
  text('job_id', row => row.job_id),
  text('group_id', row => row.group_id),
  integer('step', row => row.step),
  integer('index', row => row.index),
  integer('member', row => row.member),
  integer('attempt', row => row.attempt),
  text('env', row => row.env),
  text('task_id', row => row.task_id),
  text('slug', row => row.slug),
  json('args', row => row.args),
  json('columns', row => row.columns),
  text('outcome', row => row.outcome),
  column({ name: 'reward', type: 'DOUBLE', repetition_type: 'OPTIONAL' }, row => row.reward),
  text('stop_reason', row => row.stop_reason),
  text('failed_phase', row => row.failed_phase, 'OPTIONAL'),
  json('error', row => row.error),
  text('lease', row => row.lease, 'OPTIONAL'),
  json('timings_ms', row => row.timings_ms),
  timestamp('started_at', row => row.started_at),
  timestamp('ended_at', row => row.ended_at),
  column({ name: 'seed', type: 'INT64', repetition_type: 'REQUIRED' }, row => BigInt(row.seed)),
  text('agent', row => row.agent),
  json('prompt', row => row.prompt),
  json('turns', row => row.turns.map(({ tokens, ...turn }) => turn)),
  json('answer', row => row.answer),
  json('grade', row => row.grade),
  perTurn('prompt_token_ids', { type: 'INT32', converted_type: 'UINT_32' }, tokens => tokens.prompt_token_ids),
  perTurn('output_token_ids', { type: 'INT32', converted_type: 'UINT_32' }, tokens => tokens.output_token_ids),
  perTurn('output_logprobs', { type: 'FLOAT' }, tokens => tokens.output_logprobs),
]

function column(schema: SchemaElement, of: Column['of']): Column {
  return { name: schema.name, schema: [schema], of }
}

function text(name: string, of: Column['of'], repetition_type: 'REQUIRED' | 'OPTIONAL' = 'REQUIRED'): Column {
  return column({ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type }, of)
}

function integer(name: string, of: Column['of']): Column {
  return column({ name, type: 'INT32', repetition_type: 'REQUIRED' }, of)
}

function json(name: string, of: Column['of']): Column {
  return column({ name, type: 'BYTE_ARRAY', converted_type: 'JSON', repetition_type: 'OPTIONAL' }, of)
}

function timestamp(name: string, of: (row: ExportRow) => number): Column {
  const schema: SchemaElement = {
    name,
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    repetition_type: 'REQUIRED',
  }
  return column(schema, row => new Date(of(row)))
}

/** A list with a list for each turn: the standard three-level layout, twice. */
function perTurn(
  name: string,
  leaf: Pick<SchemaElement, 'type' | 'converted_type'>,
  of: (tokens: ExportTokens) => readonly number[],
): Column {
  return {
    name,
    schema: [
      { name, converted_type: 'LIST', repetition_type: 'REQUIRED', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', ...leaf, repetition_type: 'REQUIRED' },
    ],
    of: row => row.turns.map(({ tokens }) => (tokens === undefined ? null : of(tokens))),
  }
}

function countTokens(row: ExportRow): number {
  return row.turns.reduce((sum, { tokens }) => {
    if (tokens === undefined) return sum
    return sum + tokens.prompt_token_ids.length + tokens.output_token_ids.length + tokens.output_logprobs.length
  }, 0)
}

/** Gives what was encoded to the sink and starts the buffer anew; `offset`, the place in the file, goes on. */
async function drain(bytes: ByteWriter, sink: ExportSink): Promise<void> {
  await sink.write(bytes.getBytes())
  bytes.index = 0
}
