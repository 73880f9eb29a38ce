import type { GroupId, JobId, RunId } from '../ids.ts'
import type { DurableRun } from '../rollout/run.ts'
import type { Task } from './task.ts'

/** What the supervisor hands to a thread: one group that is to be rolled out. */
export interface GroupPlan {
  readonly jobId: JobId
  readonly groupId: GroupId
  /** The training step, or 0: groups of one step are trained on together. */
  readonly step: number
  /** Place in the seeded order of the step, from 0. */
  readonly index: number
  readonly task: Task
  readonly members: readonly MemberPlan[]
}

export interface MemberPlan {
  readonly runId: RunId
  /** From 0 to the group's size less one. */
  readonly member: number
  /** Seeds everything random that this member's agent does. */
  readonly seed: number
}

/** A plan, and those of its members that an earlier process or thread finished. */
export interface PlannedGroup {
  readonly plan: GroupPlan
  readonly durable: readonly DurableRun[]
}
