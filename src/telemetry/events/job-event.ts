import type { ErrorData } from '../../errors.ts'
import type { JobSnapshot } from '../../job/snapshot.ts'
import type { Group } from '../../rollout/group.ts'
import type { RunHeader } from '../../rollout/run.ts'
import type { TrainingEvent } from '../../training/loop/events.ts'
import type { EngineEvent } from '../channels.ts'
import type { ProblemKind } from '../listen.ts'

/** Every `type` in an event file, and of what `--json` prints, where the last three are added. */
export const EVENT_TYPES = [
  'engine-started',
  'engine-closed',
  'run-ended',
  'group-ended',
  'pool',
  'training-resumed',
  'step-began',
  'chunk-trained',
  'groups-rolled-back',
  'step-adopted',
  'step-ended',
  'evaluated',
  'training-stopped',
  'problem',
  'events-dropped',
  'progress',
  'level-measured',
  'result',
] as const

/** One line of an event file without its time and job: small, and no part of a trajectory. */
export interface JobEvent {
  readonly type: (typeof EVENT_TYPES)[number]
  readonly [field: string]: unknown
}

const LONGEST_MESSAGE = 1_000

/** An engine that started or closed. */
export function toEngineEvent({ type, jobId: _, ...rest }: EngineEvent): JobEvent {
  return { type: `engine-${type}`, ...rest }
}

/** A run that ended: the head of it. */
export function toRunEvent(header: RunHeader): JobEvent {
  const { runId, groupId, step, member, attempt, task, outcome, reward, stopReason, failedPhase, error } = header
  const { lease, timings, startedAt, endedAt, agent, bytes } = header
  return {
    type: 'run-ended',
    runId,
    groupId,
    step,
    member,
    attempt,
    environment: task.env,
    task: task.slug,
    agent,
    outcome,
    reward,
    stopReason,
    ...(failedPhase === undefined ? {} : { failedPhase }),
    ...(error === undefined ? {} : { error: toShortError(error) }),
    lease,
    timings,
    tookMs: endedAt - startedAt,
    bytes,
  }
}

/** A group that ended: how, and its rewards in member order. */
export function toGroupEvent({ groupId, step, index, task, end, runs, bytes }: Group): JobEvent {
  const { error, ...how } = end.type === 'dropped' ? end : { ...end, error: undefined }
  return {
    type: 'group-ended',
    groupId,
    step,
    index,
    environment: task.env,
    task: task.slug,
    end: error === undefined ? how : { ...how, error: toShortError(error) },
    rewards: runs.map(run => run.reward),
    bytes,
  }
}

/** How the pool and the engine stand. */
export function toPoolEvent({ pool, ...job }: JobSnapshot): JobEvent {
  const { plannedRuns, finishedRuns, graded, inFlight, creditsInUse, waitingBytes } = job
  const { engineCpuMs, engineRssBytes, loopDelayP99Ms } = job
  const figures =
    pool === undefined
      ? null
      : {
          source: pool.source,
          target: pool.target,
          creating: pool.creating,
          ready: pool.ready,
          leased: pool.leased,
          deleting: pool.deleting,
          quarantined: pool.quarantined,
          parents: pool.parents.kept,
          waiting: pool.waiting,
          created: pool.created,
          gone: pool.gone,
          createFailures: pool.createFailures,
          leases: pool.leases,
          breakerOpen: pool.breaker !== undefined,
        }
  return {
    type: 'pool',
    pool: figures,
    plannedRuns,
    finishedRuns,
    graded,
    inFlight,
    creditsInUse,
    waitingBytes,
    engineCpuMs,
    engineRssBytes,
    loopDelayP99Ms,
  }
}

/** What a training tells, with counts in the place of lists of groups. */
export function toTrainingEvent(event: TrainingEvent): JobEvent {
  switch (event.type) {
    case 'resumed': {
      const { steps, evaluations } = event.history
      return { type: 'training-resumed', steps: steps.length, evaluations: evaluations.length }
    }
    case 'step-began':
      return { ...event, type: 'step-began' }
    case 'chunk-trained': {
      const { step, call, consumed, dropped, datums, loss, tookMs, error } = event
      const counts = { consumed: consumed.length, dropped: dropped.length }
      const failure = error === null ? {} : { error: toShortError(error) }
      return { type: 'chunk-trained', step, call, ...counts, datums, loss, tookMs, ...failure }
    }
    case 'rolled-back':
      return { type: 'groups-rolled-back', step: event.step, groups: event.groups.length, why: event.why }
    case 'adopted':
      return { type: 'step-adopted', step: event.step, checkpointId: event.checkpointId }
    case 'step-ended':
      return { type: 'step-ended', ...event.record }
    case 'evaluated':
      return { type: 'evaluated', ...event.record }
    case 'stopped':
      return { type: 'training-stopped' }
  }
}

/** What was said unasked. */
export function toProblemEvent(kind: ProblemKind, error: ErrorData): JobEvent {
  const { address } = error
  return { type: 'problem', kind, ...toShortError(error), ...(address === undefined ? {} : { address }) }
}

/** An error's tag and the beginning of its message: its details and causes may be long. */
function toShortError({ tag, message }: ErrorData): { readonly tag: string; readonly message: string } {
  const short = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
  return { tag, message: short }
}
