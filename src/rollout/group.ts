import type { ErrorData } from '../errors.ts'
import type { GroupId, JobId } from '../ids.ts'
import type { Task } from '../taskset/task.ts'
import type { Run, RunHeader } from './run.ts'

/**
 * What a group does when a member is lost for good. `complete` lets every member come to its end and delivers all of them, the
 * lost ones with a null reward; `minimum` delivers from so many graded members on; `drop` drops the group and stops the siblings.
 * A group without one graded member is dropped in any case.
 */
export type GroupStrategy =
  | { readonly type: 'complete' }
  | { readonly type: 'minimum'; readonly members: number }
  | { readonly type: 'drop' }

/** Every group ends in exactly one of these. */
export type GroupEnd =
  /** All planned members have a terminal run, graded or, with the strategy `complete`, not. */
  | { readonly type: 'complete' }
  /** Fewer graded members than planned, but enough for the strategy. */
  | { readonly type: 'partial'; readonly graded: number; readonly planned: number }
  | {
      readonly type: 'dropped'
      readonly reason: 'member-lost' | 'too-few-members' | 'no-member-graded'
      readonly error?: ErrorData
    }

/** A group as it streams out of the engine: members side by side in member order. */
export interface Group {
  readonly jobId: JobId
  readonly groupId: GroupId
  readonly step: number
  readonly index: number
  readonly task: Task
  readonly end: GroupEnd
  readonly runs: readonly Run[]
  /** Sum of the members' packed trajectories. */
  readonly bytes: number
}

/** A group's end as it is journaled and sent between actors. */
export interface GroupRecord {
  readonly jobId: JobId
  readonly groupId: GroupId
  readonly step: number
  readonly index: number
  readonly task: Task
  readonly end: GroupEnd
  readonly runs: readonly RunHeader[]
}
