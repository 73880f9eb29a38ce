/** Every message of every actor, in one place; those between machines are in `cluster-messages.ts`. */
import type { AgentRef } from '../src/agents/agent.ts'
import type { ErrorData } from '../src/errors.ts'
import type { GroupId, LeaseId, RunId, SandboxId } from '../src/ids.ts'
import type { Settled } from '../src/kernel/actor.ts'
import type { Question, Ref } from '../src/kernel/ref.ts'
import type { LeaseLost } from '../src/pool/lease-queue.ts'
import type { Drained } from '../src/pool/pool.ts'
import type { Reachable } from '../src/pool/sandbox-state.ts'
import type { PoolStats } from '../src/pool/stats.ts'
import type { GroupEnd } from '../src/rollout/group.ts'
import type { LiveList } from '../src/rollout/live.ts'
import type { DurableRun, RunHeader } from '../src/rollout/run.ts'
import type { LeaseKind } from '../src/runtimes/runtime.ts'
import type { GroupPlan, PlannedGroup } from '../src/taskset/plan.ts'
import type { Task } from '../src/taskset/task.ts'
import type { AttemptTrace, RunTrace } from '../src/telemetry/traces/run-trace.ts'
import type { StepClosed, StepToClose } from '../src/training/loop/close-step.ts'
import type { StepLedger } from '../src/training/loop/ledger.ts'
import type { StepOpened, StepToOpen } from '../src/training/loop/open-step.ts'
import type { ChunkOver, ChunkToTrain } from '../src/training/loop/send-chunk.ts'
import type { Address } from '../src/wire/address.ts'

// ── sandbox-pool ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Asks for one sandbox. The asker chooses the lease's id, so that `release` also withdraws a request still waiting. */
export interface Lease extends Question<LeaseReply> {
  readonly type: 'lease'
  readonly leaseId: LeaseId
  readonly runId: RunId
  readonly task: Task
  /** Beside the one that `demand` counts for each run. */
  readonly isExtra?: true
  /** Watched by the pool: when the owner is gone, its leases are taken back. Told where the sandbox dies first. */
  readonly owner: Ref<LeaseLost>
  /** A request older than this when its turn comes is refused with `lease-timeout`. */
  readonly deadlineMs: number
}

export type LeaseReply =
  | {
      readonly type: 'leased'
      readonly leaseId: LeaseId
      readonly sandboxId: SandboxId
      readonly address: Address
      readonly sessionId: string | undefined
      readonly kind: LeaseKind
    }
  | { readonly type: 'refused'; readonly leaseId: LeaseId; readonly error: ErrorData }

/** Gives a lease back, or withdraws its request. Unknown ids are ignored: giving back twice is harmless. */
export interface Release {
  readonly type: 'release'
  readonly leaseId: LeaseId
  /** The rollout saw the session's goodbye. */
  readonly sessionEnded: boolean
}

/** How many leases the job will still ask for: nothing is prewarmed beyond that. */
export interface Demand {
  readonly type: 'demand'
  readonly remaining: number
}

export type { LeaseLost, PoolStats }

export interface AskPoolStats extends Question<PoolStats> {
  readonly type: 'pool-stats'
}

/** Asks what is known of why a leased sandbox was lost. Only after something has gone wrong with it, and before it is given back. */
export interface WhyLost extends Question<Diagnosis> {
  readonly type: 'why-lost'
  readonly leaseId: LeaseId
}

export interface Diagnosis {
  readonly type: 'diagnosis'
  /** Undefined: the sandbox seems to be well, or nobody knows. */
  readonly error: ErrorData | undefined
}

/**
 * Disposes of every sandbox, lets go of the provider's own pool, and answers when nothing is left, or with what would not go. No lease is given any
 * more.
 */
export interface DrainPool extends Question<Drained> {
  readonly type: 'drain-pool'
}

/** What the pool tells itself. */
export type PoolInternal =
  | { readonly type: 'provisioned'; readonly id: SandboxId; readonly settled: Settled<Reachable> }
  | { readonly type: 'disposed'; readonly id: SandboxId; readonly settled: Settled<void> }
  /** Forks of it may be asked for. */
  | { readonly type: 'sandbox-forkable'; readonly id: SandboxId }
  | { readonly type: 'sandbox-lost'; readonly id: SandboxId; readonly error: ErrorData }
  /** What there is to know of a sandbox that somebody asked about. */
  | { readonly type: 'diagnosed'; readonly id: SandboxId; readonly settled: Settled<ErrorData | undefined> }
  | { readonly type: 'pool-held'; readonly settled: Settled<void> }
  | { readonly type: 'pool-counted'; readonly settled: Settled<number> }
  | { readonly type: 'pool-dropped'; readonly settled: Settled<void> }
  /** Something has become possible, or too late, by the clock alone. */
  | { readonly type: 'pool-tick' }

export type PoolMessage = Lease | Release | Demand | AskPoolStats | WhyLost | DrainPool | PoolInternal

// ── supervisor ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** A group to roll out, and which of its members already have a durable run. */
export interface StartGroup {
  readonly type: 'start-group'
  readonly plan: GroupPlan
  readonly agent: AgentRef
  readonly durable: readonly RunHeader[]
  /** Threads that were lost under it so far: which of its starts this is. */
  readonly losses: number
  /** The share of its runs that is drawn as traces; absent where nobody draws any. */
  readonly traced?: number | undefined
}

/** Groups that join the queue, in this order. */
export interface RunGroups {
  readonly type: 'run-groups'
  readonly groups: readonly PlannedGroup[]
  readonly agent: AgentRef
}

/** From the collector: a member has its terminal run, a group its end. */
export type CollectedMessage =
  | { readonly type: 'run-over'; readonly groupId: GroupId; readonly runId: RunId }
  | GroupOver
  | { readonly type: 'group-lost-known'; readonly groupId: GroupId }
  | { readonly type: 'group-left-known'; readonly groupId: GroupId }

export interface GroupOver {
  readonly type: 'group-over'
  readonly groupId: GroupId
  /** Of the start that ended. */
  readonly losses: number
  readonly graded: number
  readonly error?: ErrorData
}

/** From a shard or from the threads that carry them. */
export type ShardReport =
  | { readonly type: 'shard-up'; readonly node: string; readonly root: Ref<ShardMessage> }
  | { readonly type: 'shard-down'; readonly node: string; readonly error: ErrorData }
  /** A cancelled group has given everything back; its unfinished members stay pending. */
  | { readonly type: 'group-cancelled'; readonly groupId: GroupId }
  /** The group's actor failed: a defect of ours, treated like a lost thread. `losses`: as many as that, where others have counted them. */
  | { readonly type: 'group-crashed'; readonly groupId: GroupId; readonly error: ErrorData; readonly losses?: number }

export type SupervisorMessage =
  | RunGroups
  /** So many rollouts are going to be handed in, beside those that have been: the pool may make sandboxes ready for them. */
  | { readonly type: 'expect'; readonly rollouts: number }
  | CollectedMessage
  | ShardReport
  /** The consumer has taken something: look whether more may start. */
  | { readonly type: 'room' }
  /** Starts nothing more and cancels what is in flight; answered when nothing is. */
  | CancelAll
  | AskShards
  | { readonly type: 'durable-found'; readonly groupId: GroupId; readonly settled: Settled<readonly DurableRun[]> }
  | { readonly type: 'loss-recorded'; readonly groupId: GroupId; readonly settled: Settled<void> }

export interface CancelAll extends Question<{ readonly type: 'all-cancelled' }> {
  readonly type: 'cancel-all'
}

/** Asks who hosts groups now, for whoever wants to ask them what goes on. */
export interface AskShards extends Question<readonly Ref<AskLive>[]> {
  readonly type: 'ask-shards'
}

// ── shard (one a thread) and rollout-group ──────────────────────────────────────────────────────────────────────────

export type ShardMessage = StartGroup | CancelGroups | AskLive

/** Asks which rollouts of this thread are in which phase: the `most` that have been under way longest, and counts of all. */
export interface AskLive extends Question<LiveList> {
  readonly type: 'ask-live'
  readonly most: number
}

export interface CancelGroups {
  readonly type: 'cancel-groups'
}

export type RolloutGroupMessage =
  | CancelGroups
  | LeaseLost
  | { readonly type: 'attempt-ended'; readonly runId: RunId; readonly settled: Settled<AttemptEnd> }
  | { readonly type: 'retry'; readonly runId: RunId }
  | { readonly type: 'group-durable'; readonly end: GroupEnd; readonly settled: Settled<void> }

/** One attempt of one member, already packed: the only large thing about it is the bytes. */
export interface AttemptEnd {
  readonly header: RunHeader
  /** Durable, unless the attempt is to be tried again or was cancelled. */
  readonly verdict: 'terminal' | 'retry' | 'cancelled'
  readonly trajectory: Uint8Array
  /** Absent where it is not drawn. */
  readonly trace?: AttemptTrace
}

// ── collector ───────────────────────────────────────────────────────────────────────────────────────────────────────

export type CollectorMessage =
  /** A durable run. The bytes are handed over, not copied. */
  | {
      readonly type: 'run-completed'
      readonly header: RunHeader
      readonly trajectory: Uint8Array
      /** Absent where it is not drawn, and where no thread was left to tell. */
      readonly trace?: RunTrace | undefined
    }
  | { readonly type: 'group-ended'; readonly plan: GroupPlan; readonly end: GroupEnd; readonly losses: number }
  /** Nobody runs the ended group any more: that it was there may be forgotten. */
  | { readonly type: 'group-closed'; readonly groupId: GroupId }
  /** A cancelled group: what it has is durable and will be found again; nothing of it is kept here. Answered with `group-left-known`. */
  | { readonly type: 'group-left'; readonly groupId: GroupId }
  /** Answered with `group-lost-known`, after all that came of the group before its thread was lost. */
  | { readonly type: 'group-lost'; readonly groupId: GroupId }

// ── trainer ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Begins a step, or takes up what an earlier process left of it. One step is open at a time. */
export interface OpenStep extends StepToOpen, Question<StepOpened | TrainerFailed> {
  readonly type: 'open-step'
}

/** Trains on whole groups, named and not carried. Those that were sent before are not sent again. */
export interface TrainChunk extends ChunkToTrain, Question<ChunkOver | TrainerFailed> {
  readonly type: 'train-chunk'
}

/** Every group of the step has its end: one optimiser step, if anything was accepted. */
export interface CloseStep extends StepToClose, Question<StepClosed | TrainerFailed> {
  readonly type: 'close-step'
}

/** The trainer cannot go on, and answers everything after it the same way. */
export interface TrainerFailed {
  readonly type: 'trainer-failed'
  readonly error: ErrorData
}

export type TrainerQuestion = OpenStep | TrainChunk | CloseStep
export type TrainerReply = StepOpened | ChunkOver | StepClosed | TrainerFailed

/** What the trainer tells itself: the one thing it worked on is over. */
export interface TrainerWork {
  readonly type: 'trainer-work-over'
  readonly settled: Settled<{ readonly ledger: StepLedger; readonly reply: TrainerReply }>
}

export type TrainerMessage = TrainerQuestion | TrainerWork
