import type { ErrorData } from '../errors.ts'
import { hideInError } from '../redact.ts'
import type { GroupPlan, MemberPlan } from '../taskset/plan.ts'
import type { RolloutEnd } from './rollout.ts'
import type { RunHeader } from './run.ts'

/** The record of an attempt, for the journal and for people: its error holds no secret. `bytes` is the size of its packed trajectory. */
export function toRunHeader(
  plan: GroupPlan,
  member: MemberPlan,
  how: { readonly attempt: number; readonly agent: string; readonly bytes: number },
  end: RolloutEnd,
): RunHeader {
  return {
    runId: member.runId,
    jobId: plan.jobId,
    groupId: plan.groupId,
    step: plan.step,
    index: plan.index,
    member: member.member,
    attempt: how.attempt,
    task: plan.task,
    outcome: end.outcome,
    reward: end.reward,
    stopReason: end.stopReason,
    ...(end.failedPhase === undefined ? {} : { failedPhase: end.failedPhase }),
    ...(end.error === undefined ? {} : { error: hideInError(end.error) }),
    lease: end.lease,
    timings: end.timings,
    startedAt: end.startedAt,
    endedAt: end.endedAt,
    seed: member.seed,
    agent: how.agent,
    bytes: how.bytes,
  }
}

/** The record of a member that no thread survived to finish. */
export function toLostHeader(
  plan: GroupPlan,
  member: MemberPlan,
  how: { readonly agent: string; readonly at: number; readonly bytes: number },
  error: ErrorData,
): RunHeader {
  return toRunHeader(plan, member, { attempt: 1, agent: how.agent, bytes: how.bytes }, lostEnd(how.at, error))
}

/** An attempt of which nothing is known but that its thread is gone. */
export function lostEnd(at: number, error: ErrorData): RolloutEnd {
  return {
    outcome: 'infrastructure-error',
    reward: null,
    stopReason: 'thread-lost',
    failedPhase: undefined,
    error,
    retryable: false,
    lease: null,
    timings: {},
    laps: [],
    startedAt: at,
    endedAt: at,
    tookMs: 0,
    trajectory: { prompt: null, turns: [], answer: null, grade: null },
  }
}
