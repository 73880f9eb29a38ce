import type { GroupId, RunId } from '../src/ids.ts'
import type { RunHeader } from '../src/rollout/run.ts'
import { type AccountLimits, makeAccountLimits } from './dispatcher-limits.ts'
import type { StartGroup } from './messages.ts'
import { makeWorkerBook, type WorkerBook } from './worker-book.ts'

/** A group that the supervisor has handed over and that has no end. */
export interface OpenGroup {
  readonly group: StartGroup
  /** Members that have their run. */
  readonly headers: Map<RunId, RunHeader>
  /** Which handing out of this life of the coordinator; 0 while it waits for credits. */
  start: number
  /** Workers that were lost under it. */
  losses: number
  /** Every member has its run: the end is on its way to the journal. */
  isEnding: boolean
}

/** What the dispatcher knows. */
export interface DispatcherState {
  readonly open: Map<GroupId, OpenGroup>
  /** Those that wait for credits, in order. */
  readonly queue: Set<OpenGroup>
  /** Runs of groups that an earlier life of the coordinator had handed out. */
  readonly early: Map<GroupId, Map<RunId, RunHeader>>
  readonly workers: WorkerBook
  /** Of provider accounts, which the workers of all jobs share. */
  readonly limits: AccountLimits
  /** Owners of sandboxes that nobody has, and since when; those among them that have not been heard of yet may still come up. */
  readonly dead: Map<string, number>
  /** Those of them whose sandboxes are being deleted. */
  readonly reaping: Set<string>
  /** Owners that had a lease at the last look. */
  leased: ReadonlySet<string>
  /** Members without a run, of groups that are in the stream: what the workers' credits bound. */
  out: number
  /** Groups handed out so far. */
  starts: number
  /** Cancels so far. */
  generation: number
  isCancelling: boolean
  /** What was told of the workers, and when: undefined where more has become of them since than figures. */
  toldAt: number | undefined
}

/** How it begins. `node`: the coordinator's. */
export const toInitialState = (node: string, now: number): DispatcherState => ({
  open: new Map(),
  queue: new Set(),
  early: new Map(),
  workers: makeWorkerBook(),
  limits: makeAccountLimits(node, now),
  dead: new Map(),
  reaping: new Set(),
  leased: new Set(),
  out: 0,
  starts: 0,
  generation: 0,
  isCancelling: false,
  toldAt: undefined,
})

/** Members without a run. */
export function countOpen({ group, headers }: OpenGroup): number {
  return group.plan.members.length - headers.size
}

/** It is in the stream no more, or soon will not be. */
export function takeIn(state: DispatcherState, entry: OpenGroup): void {
  if (entry.start > 0) state.out -= countOpen(entry)
  entry.start = 0
}
