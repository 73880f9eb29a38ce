import type { Outcome, RunHeader, StopReason } from '../rollout/run.ts'
import type { Trajectory } from '../rollout/trajectory.ts'

/** Bodies of the platform's job and trace routes. What does not apply is absent: no field is null. */

export interface JobEnter {
  readonly name: string
  readonly group: number
  readonly taskset_id?: string
}

export interface TraceEnter {
  readonly job_id: string
  readonly group_id: string
  readonly task_slug: string
  readonly model?: string
}

export interface TraceExit {
  readonly status: 'completed' | 'error' | 'cancelled'
  /** Absent for a run that nobody graded: that is no zero. */
  readonly reward?: number
  readonly error?: string
  readonly evaluation_result?: Readonly<Record<string, unknown>>
  readonly stop_reason?: 'done' | 'max_steps' | 'length' | 'timeout' | 'malformed_tool_call'
  readonly metadata?: Readonly<Record<string, unknown>>
}

const STATUS: Record<Outcome, TraceExit['status']> = {
  graded: 'completed',
  'agent-error': 'error',
  'environment-error': 'error',
  'infrastructure-error': 'error',
  cancelled: 'cancelled',
}

/** Those that the platform has a word for; the others are in the metadata. */
const STOP: Partial<Record<StopReason, NonNullable<TraceExit['stop_reason']>>> = {
  done: 'done',
  'max-steps': 'max_steps',
  length: 'length',
  'malformed-tool-call': 'malformed_tool_call',
  deadline: 'timeout',
}

export function toTraceExit(header: RunHeader, { grade }: Pick<Trajectory, 'grade'>): TraceExit {
  const { outcome, reward, error, stopReason } = header
  const stop = STOP[stopReason]
  return {
    status: STATUS[outcome],
    ...(reward === null ? {} : { reward }),
    ...(error === undefined ? {} : { error: error.message }),
    ...(grade === null ? {} : { evaluation_result: withoutSubscoreInfo(grade) }),
    ...(stop === undefined ? {} : { stop_reason: stop }),
    metadata: {
      run: header.runId,
      job: header.jobId,
      step: header.step,
      member: header.member,
      attempt: header.attempt,
      seed: header.seed,
      agent: header.agent,
      lease: header.lease ?? 'none',
      outcome,
      stop_reason: stopReason,
      timings_ms: header.timings,
    },
  }
}

/** The end of a trace whose run was begun and has none: its job was closed meanwhile. */
export const CANCELLED: TraceExit = { status: 'cancelled' }

/** What a subscore says at length is in the evaluation's step alone. */
function withoutSubscoreInfo(grade: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(grade.subscores)) return grade
  const subscores = grade.subscores.map((subscore: unknown) => {
    if (typeof subscore !== 'object' || subscore === null) return subscore
    return Object.fromEntries(Object.entries(subscore).filter(([key]) => key !== 'info'))
  })
  return { ...grade, subscores }
}
