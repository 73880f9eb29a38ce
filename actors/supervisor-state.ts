import type { AgentRef } from '../src/agents/agent.ts'
import type { ErrorData } from '../src/errors.ts'
import type { GroupId, RunId } from '../src/ids.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { PlannedGroup } from '../src/taskset/plan.ts'
import type { Load } from '../src/threads/placement.ts'
import type { ShardMessage } from './messages.ts'

/** A group, and the threads that were lost under it. */
export interface LostGroup extends PlannedGroup {
  readonly losses: number
}

/** One that waits for a credit. */
export interface Queued extends LostGroup {
  readonly agent: AgentRef
}

/** One that a thread has. */
export interface Flight extends Queued {
  readonly node: string
  /** Members without a terminal run. */
  readonly open: Set<RunId>
}

/** Whether groups are handed out. */
export type Mode =
  | { readonly type: 'running' }
  | { readonly type: 'cancelling'; readonly asked: readonly Ref<unknown>[]; readonly failure: ErrorData | undefined }
  | { readonly type: 'failed' }

/** A thread, and how much it has. */
export interface Shard extends Load {
  readonly root: Ref<ShardMessage>
}

/** What the supervisor knows. */
export interface SupervisorState {
  mode: Mode
  queue: Queued[]
  readonly flights: Map<GroupId, Flight>
  /** Groups between a lost thread and the look into the journal. */
  readonly recovering: Map<GroupId, { readonly group: Queued; readonly error: ErrorData }>
  /** Cancelled groups that the collector has not let go of yet. */
  readonly leaving: Set<GroupId>
  readonly shards: Map<string, Shard>
  /** Unfinished members of all flights: what the credits bound. */
  unfinished: number
  /** Rollouts that were announced and have not been handed in yet. */
  expected: number
}

/** How it begins. */
export const toInitialState = (): SupervisorState => ({
  mode: { type: 'running' },
  queue: [],
  flights: new Map(),
  recovering: new Map(),
  leaving: new Set(),
  shards: new Map(),
  unfinished: 0,
  expected: 0,
})

/** Members that are still to be run. */
export function countRuns(groups: readonly PlannedGroup[]): number {
  return groups.reduce((sum, { plan, durable }) => sum + plan.members.length - durable.length, 0)
}
