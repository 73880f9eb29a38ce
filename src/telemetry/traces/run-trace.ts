import type { Lap } from '../../rollout/phases.ts'
import type { RolloutEnd } from '../../rollout/rollout.ts'
import type { Outcome, Phase } from '../../rollout/run.ts'
import type { Turn } from '../../rollout/trajectory.ts'
import type { GroupPlan, MemberPlan } from '../../taskset/plan.ts'
import { attemptSpan, isDrawn, MOST_TURNS, runTrace, toTraceparent } from './trace-ids.ts'

/** What the spans of a run are made of, as its thread tells it: times and counts, no text of the conversation. */
export interface RunTrace {
  /** In their order; the last is the one that counts. */
  readonly attempts: readonly AttemptTrace[]
  /** Which worker rolled it out; absent: this machine. */
  readonly worker?: string
  /** The words of the run's error without the worker's secrets; absent: as the run has them. */
  readonly said?: string
}

/** One attempt at a rollout. */
export interface AttemptTrace {
  readonly attempt: number
  readonly outcome: Outcome
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly tookMs: number
  readonly laps: readonly Lap[]
  readonly failedPhase?: Phase
  readonly error?: string
  /** The first ones. */
  readonly turns: readonly TurnTrace[]
  /** How many there were. */
  readonly turnCount: number
}

/** One turn of the agent's. */
export interface TurnTrace {
  /** Since the agent's phase began. */
  readonly atMs: number
  readonly tookMs: number
  /** What was called; absent: the model was asked. */
  readonly tool?: string
  readonly isError?: true
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Which weights put it out, as the server names them. */
  readonly version?: string
}

/** What is said to others, as a `traceparent`, while an attempt is in a phase. */
export type Traceparents = (phase: Phase) => string

/** Undefined where the run is not drawn. */
export function traceparentsOf(
  plan: Pick<GroupPlan, 'jobId'>,
  member: Pick<MemberPlan, 'runId'>,
  attempt: number,
  share: number | undefined,
): Traceparents | undefined {
  if (share === undefined) return undefined
  const ids = runTrace(plan.jobId, member.runId)
  return isDrawn(ids, share) ? phase => toTraceparent(ids, attemptSpan(attempt, phase)) : undefined
}

export function toAttemptTrace(attempt: number, end: RolloutEnd): AttemptTrace {
  const { outcome, startedAt, laps, failedPhase, error, trajectory } = end
  return {
    attempt,
    outcome,
    startedAt,
    tookMs: end.tookMs,
    laps,
    ...(failedPhase === undefined ? {} : { failedPhase }),
    ...(error === undefined ? {} : { error: error.tag }),
    turns: trajectory.turns.slice(0, MOST_TURNS).map(toTurnTrace),
    turnCount: trajectory.turns.length,
  }
}

function toTurnTrace({ role, atMs, tookMs, toolCalls, tokens, version }: Turn): TurnTrace {
  if (role === 'tool') {
    const isError = toolCalls?.some(call => call.isError) === true
    return { atMs, tookMs, tool: toolCalls?.[0]?.name ?? 'tool', ...(isError ? { isError } : {}) }
  }
  return {
    atMs,
    tookMs,
    ...(tokens === undefined ? {} : { inputTokens: tokens.prompt.length, outputTokens: tokens.output.length }),
    ...(version === undefined ? {} : { version }),
  }
}
