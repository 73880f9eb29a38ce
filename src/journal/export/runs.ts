import { type Column, column, FLOAT, figure, integer, json, leaf, list, TOKEN_ID, text, timestamp } from './columns.ts'
import { readTrajectory } from './groups.ts'
import { type ExportTokens, type RunRow, toRunRow } from './run-row.ts'
import type { ExportShape } from './shape.ts'

const COLUMNS: readonly Column<RunRow>[] = [
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
  figure('reward', row => row.reward),
  text('stop_reason', row => row.stop_reason),
  text('failed_phase', row => row.failed_phase, 'OPTIONAL'),
  json('error', row => row.error),
  text('lease', row => row.lease, 'OPTIONAL'),
  json('timings_ms', row => row.timings_ms),
  timestamp('started_at', row => row.started_at),
  timestamp('ended_at', row => row.ended_at),
  column(leaf('seed', { type: 'INT64' }), row => BigInt(row.seed)),
  text('agent', row => row.agent),
  json('prompt', row => row.prompt),
  json('turns', row => row.turns.map(({ tokens, ...turn }) => turn)),
  json('answer', row => row.answer),
  json('grade', row => row.grade),
  json('actor_grade', row => row.actor_grade),
  perTurn('prompt_token_ids', TOKEN_ID, tokens => tokens.prompt_token_ids),
  perTurn('output_token_ids', TOKEN_ID, tokens => tokens.output_token_ids),
  perTurn('output_logprobs', FLOAT, tokens => tokens.output_logprobs),
]

/**
 * A row a run, with everything that is kept of it. In Parquet free-form fields are JSON columns; token ids and logprobs are a list for
 * each turn, null for a turn without tokens.
 */
export const runs: ExportShape<RunRow> = {
  noun: 'runs',
  async *rows(journal, { headers }) {
    for (const header of headers) yield toRunRow(header, await readTrajectory(journal, header))
  },
  columns: COLUMNS,
  weigh: ({ turns }) => turns.reduce((sum, turn) => sum + turn.text.length + countTokens(turn.tokens), 0),
}

/** A list with a list for each turn. */
function perTurn(name: string, type: typeof FLOAT, of: (tokens: ExportTokens) => readonly number[]): Column<RunRow> {
  return column(list(name, list('element', leaf('element', type), 'OPTIONAL')), row =>
    row.turns.map(({ tokens }) => (tokens === undefined ? null : of(tokens))),
  )
}

function countTokens(tokens: ExportTokens | undefined): number {
  if (tokens === undefined) return 0
  return tokens.prompt_token_ids.length + tokens.output_token_ids.length + tokens.output_logprobs.length
}
