/** What the actors of an engine on several machines tell each other: the coordinator's dispatcher, and one desk a worker. */
import type { SeenLease } from '../src/cluster/lease-book.ts'
import type { TokensAsked, TokensGiven } from '../src/cluster/limit-book.ts'
import type { LimitSign } from '../src/cluster/limit-signs.ts'
import type { ErrorData } from '../src/errors.ts'
import type { GroupId } from '../src/ids.ts'
import type { Settled } from '../src/kernel/actor.ts'
import type { Question, Ref } from '../src/kernel/ref.ts'
import type { Drained } from '../src/pool/pool.ts'
import type { GroupEnd } from '../src/rollout/group.ts'
import type { RunHeader } from '../src/rollout/run.ts'
import type { RunTrace } from '../src/telemetry/traces/run-trace.ts'
import type { AskLive, AskPoolStats, ShardMessage } from './messages.ts'

/** What a worker says of itself. */
export interface WorkerNote {
  readonly node: string
  readonly host: string
  /** Its process, as its sandboxes are labelled with it. */
  readonly owner: string
  readonly version: string
  readonly protocol: number
  /** Rollouts that it has of this job, and that it could take beside them. */
  readonly credits: number
}

/** What it does for the job, for people to look at. */
export interface WorkerLoad {
  /** Members without a run, and the groups that they are of. */
  readonly rollouts: number
  readonly groups: number
  /** Members that had their run there, since it joined. */
  readonly runs: number
  /** Takes nothing new. */
  readonly isDraining: boolean
}

/** From a worker's desk to the dispatcher. */
export type WorkerReport =
  | {
      readonly type: 'worker-up'
      readonly worker: WorkerNote
      readonly load: WorkerLoad
      readonly desk: Ref<DeskMessage>
    }
  | { readonly type: 'worker-beat'; readonly node: string; readonly credits: number; readonly load: WorkerLoad }
  | { readonly type: 'worker-refused'; readonly node: string; readonly error: ErrorData }
  | AskDurable

/** Asks what a group that was given out before has by now. */
export interface AskDurable extends Question<GroupSoFar> {
  readonly type: 'ask-durable'
  readonly groupId: GroupId
  readonly start: number
}

/** `isWanted`: nobody has ended it, and this handing out of it is the newest. */
export interface GroupSoFar {
  readonly isWanted: boolean
  readonly durable: readonly RunHeader[]
}

/** About the limit on creates of an account that all workers draw on: of a worker, or passed on by the coordinator of another job, whose node is named then. */
export type LimitNote =
  | TakeTokens
  | GiveTokensBack
  | HoldCreates
  /** Of another job's coordinator. */
  | { readonly type: 'limit-sign'; readonly sign: LimitSign }

/** Asks for creates that the worker may send. */
export interface TakeTokens extends Question<TokensGiven>, TokensAsked {
  readonly type: 'take-tokens'
  readonly passedOnBy?: string
}

/** Some of these it has not used. */
export interface GiveTokensBack extends Pick<TokensGiven, 'tokens' | 'window'> {
  readonly type: 'give-tokens-back'
  readonly account: string
  readonly passedOnBy?: string
}

/** The provider has told one of the workers to stay away; its dispatcher tells all of them, and the dispatchers of other jobs. */
export interface HoldCreates {
  readonly type: 'hold-creates'
  readonly account: string
  readonly forMs: number
  readonly passedOnBy?: string
}

/** A run as a worker has told it. */
export interface ArrivedRun {
  readonly header: RunHeader
  readonly trajectory: Uint8Array
  /** Absent where it is not drawn. */
  readonly trace?: RunTrace | undefined
}

/** What the dispatcher hears from the streams, and from what it has begun. */
export type DispatcherInternal =
  | (ArrivedRun & { readonly type: 'run-arrived' })
  | { readonly type: 'run-early'; readonly header: RunHeader }
  /** `start`: which handing out; -1 for whichever it is. `losses`: workers that were lost under it so far; absent: as before. */
  | { readonly type: 'handed-back'; readonly groupId: GroupId; readonly start: number; readonly losses?: number }
  /** As many workers were lost under it as may be. */
  | { readonly type: 'exhausted'; readonly groupId: GroupId; readonly start: number }
  | { readonly type: 'crashed'; readonly groupId: GroupId; readonly start: number; readonly error: ErrorData }
  | { readonly type: 'group-kept'; readonly groupId: GroupId; readonly end: GroupEnd; readonly settled: Settled<void> }
  | { readonly type: 'group-settled'; readonly asked: AskDurable; readonly replyTo: Ref<unknown> | undefined }
  | { readonly type: 'cancel-settled' }
  /** All leases of the job that are there now. */
  | { readonly type: 'leases-seen'; readonly leases: readonly SeenLease[] }
  | { readonly type: 'reaped'; readonly owner: string; readonly settled: Settled<number> }
  | { readonly type: 'dispatcher-tick' }

export type DispatcherMessage = ShardMessage | WorkerReport | LimitNote | DispatcherInternal

/** What a worker is asked by the coordinator of a job. */
export type DeskMessage =
  | CancelJob
  | EndJob
  | AskLive
  | AskPoolStats
  | { readonly type: 'expect'; readonly rollouts: number }
  | ReapOwners
  | HoldCreates
  /** Of the worker itself: its part in the job is over. */
  | { readonly type: 'close-desk' }

/** Gives up every group of the job that was handed out before this cancel; answered when they are over and their runs are in the stream. */
export interface CancelJob extends Question<true> {
  readonly type: 'cancel-job'
  readonly generation: number
}

/** Deletes sandboxes of workers that are dead; answered with how many are gone. */
export interface ReapOwners extends Question<number> {
  readonly type: 'reap-owners'
  readonly owners: readonly string[]
}

/** The job is over: its engine ends. Answered with what is left of its sandboxes. */
export interface EndJob extends Question<Drained> {
  readonly type: 'end-job'
}
