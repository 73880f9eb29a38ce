import type { ErrorData } from '../errors.ts'
import type { GroupId, JobId, RunId } from '../ids.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import type { Task } from '../taskset/task.ts'
import type { Trajectory } from './trajectory.ts'

/** Who is answerable for how a rollout ended. */
export type Outcome = 'graded' | 'agent-error' | 'environment-error' | 'infrastructure-error' | 'cancelled'

/** Why the rollout stopped; the first reason wins. */
export type StopReason =
  | 'done'
  | 'max-steps'
  | 'length'
  | 'malformed-tool-call'
  | 'agent-threw'
  | 'deadline'
  | 'environment-threw'
  | 'sandbox-lost'
  | 'model-lost'
  | 'provision-failed'
  | 'thread-lost'
  | 'cancelled'

/**
 * In the order in which a rollout goes through them. `verifying` is all that a task's verifier takes, from the request for its sandbox, where it gets one of
 * its own, to its grade.
 */
export const PHASES = ['provisioning', 'connecting', 'starting', 'agent', 'grading', 'verifying', 'cleanup'] as const
/** One of `PHASES`. */
export type Phase = (typeof PHASES)[number]

/** Milliseconds spent in each phase that was reached. */
export type PhaseTimings = Readonly<Partial<Record<Phase, number>>>

/** The verdict on one rollout: small, and everything that tables, groups and batches need. */
export interface RunHeader {
  readonly runId: RunId
  readonly jobId: JobId
  readonly groupId: GroupId
  readonly step: number
  /** Its group's place in the step's seeded order. */
  readonly index: number
  readonly member: number
  /** From 1; grows with each retry on a fresh sandbox. */
  readonly attempt: number
  readonly task: Task
  readonly outcome: Outcome
  /** Null unless a grader gave it: an ungraded run has no reward, which is not the same as zero. */
  readonly reward: number | null
  readonly stopReason: StopReason
  /** The phase it was in when it stopped early. */
  readonly failedPhase?: Phase
  readonly error?: ErrorData
  readonly lease: LeaseKind | null
  readonly timings: PhaseTimings
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  readonly seed: number
  readonly agent: string
  /** Size of the packed trajectory. */
  readonly bytes: number
}

/** A finished rollout, failed ones included: they have the same shape. The trajectory is unpacked when first read. */
export interface Run extends RunHeader {
  readonly trajectory: Trajectory
}

/** A run as it is kept: the trajectory packed. */
export interface DurableRun {
  readonly header: RunHeader
  readonly trajectory: Uint8Array
}
