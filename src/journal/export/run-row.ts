import type { RunHeader } from '../../rollout/run.ts'
import type { Trajectory, Turn } from '../../rollout/trajectory.ts'

/** One run as it is exported: the header's fields, then the trajectory's, named as in HUD's own rows. Plain data throughout. */
export interface RunRow {
  readonly run_id: string
  readonly job_id: string
  readonly group_id: string
  readonly step: number
  readonly index: number
  readonly member: number
  readonly attempt: number
  readonly env: string
  readonly task_id: string
  readonly slug: string
  readonly args: unknown
  readonly columns: unknown
  readonly outcome: string
  /** Null where nothing was graded. */
  readonly reward: number | null
  readonly stop_reason: string
  readonly failed_phase: string | null
  readonly error: unknown
  readonly lease: string | null
  readonly timings_ms: unknown
  /** Milliseconds since 1970. */
  readonly started_at: number
  readonly ended_at: number
  readonly seed: number
  readonly agent: string
  readonly prompt: unknown
  readonly turns: readonly ExportTurn[]
  readonly answer: unknown
  readonly grade: unknown
  /** Of a task with a verifier, the task's own grade; `grade` is then the verifier's. Null for all others. */
  readonly actor_grade: unknown
}

export interface ExportTurn {
  readonly role: string
  readonly text: string
  readonly tool_calls?: unknown
  readonly at_ms: number
  readonly took_ms: number
  readonly tokens?: ExportTokens
}

export interface ExportTokens {
  readonly prompt_token_ids: readonly number[]
  readonly output_token_ids: readonly number[]
  readonly output_logprobs: readonly number[]
}

export function toRunRow(header: RunHeader, trajectory: Trajectory): RunRow {
  const { task } = header
  return {
    run_id: header.runId,
    job_id: header.jobId,
    group_id: header.groupId,
    step: header.step,
    index: header.index,
    member: header.member,
    attempt: header.attempt,
    env: task.env,
    task_id: task.id,
    slug: task.slug,
    args: task.args,
    columns: task.columns ?? null,
    outcome: header.outcome,
    reward: header.reward,
    stop_reason: header.stopReason,
    failed_phase: header.failedPhase ?? null,
    error: header.error ?? null,
    lease: header.lease,
    timings_ms: header.timings,
    started_at: header.startedAt,
    ended_at: header.endedAt,
    seed: header.seed,
    agent: header.agent,
    prompt: trajectory.prompt ?? null,
    turns: trajectory.turns.map(toExportTurn),
    answer: trajectory.answer ?? null,
    grade: trajectory.grade,
    actor_grade: trajectory.actorGrade ?? null,
  }
}

function toExportTurn({ role, text, toolCalls, atMs, tookMs, tokens }: Turn): ExportTurn {
  return {
    role,
    text,
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls.map(toExportToolCall) }),
    at_ms: atMs,
    took_ms: tookMs,
    ...(tokens === undefined
      ? {}
      : {
          tokens: {
            prompt_token_ids: [...tokens.prompt],
            output_token_ids: [...tokens.output],
            output_logprobs: [...tokens.logprobs],
          },
        }),
  }
}

function toExportToolCall({ name, arguments: args, result, isError }: NonNullable<Turn['toolCalls']>[number]) {
  return { name, arguments: args, result, is_error: isError }
}
