/** Every message of every actor, in one place. */
import type { ErrorData } from '../src/errors.ts'
import type { LeaseId, RunId, SandboxId } from '../src/ids.ts'
import type { Settled } from '../src/kernel/actor.ts'
import type { Question, Ref } from '../src/kernel/ref.ts'
import type { LeaseKind, Sandbox } from '../src/runtimes/runtime.ts'
import type { Task } from '../src/taskset/task.ts'
import type { Address } from '../src/wire/address.ts'

// ── sandbox-pool ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Asks for one sandbox. The asker chooses the lease's id, so that `release` also withdraws a request still waiting. */
export interface Lease extends Question<LeaseReply> {
  readonly type: 'lease'
  readonly leaseId: LeaseId
  readonly runId: RunId
  readonly task: Task
  /** Watched by the pool: when the owner is gone, its leases are taken back. */
  readonly owner: Ref<never>
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

export interface AskPoolStats extends Question<PoolStats> {
  readonly type: 'pool-stats'
}

/** Disposes of every sandbox and answers when none is left, or with the ids that would not go. No lease is given any more. */
export interface DrainPool extends Question<{ readonly quarantined: readonly SandboxId[] }> {
  readonly type: 'drain-pool'
}

/** Figures from real sandboxes; nothing here is a target in disguise. */
export interface PoolStats {
  readonly strategy: 'cold' | 'prewarm'
  /** Prewarmed sandboxes that the pool tries to hold ready now; 0 when cold. */
  readonly target: number
  readonly creating: number
  readonly ready: number
  readonly leased: number
  readonly deleting: number
  readonly quarantined: number
  /** Requests that wait. */
  readonly waiting: number
  readonly created: number
  readonly createFailures: number
  readonly leases: Readonly<Record<LeaseKind, number>>
  /** Why the pool gives nothing out, when its breaker is open. */
  readonly breaker: ErrorData | undefined
}

/** What the pool tells itself. */
export type PoolInternal =
  | { readonly type: 'provisioned'; readonly id: SandboxId; readonly settled: Settled<Sandbox> }
  | { readonly type: 'disposed'; readonly id: SandboxId; readonly settled: Settled<void> }
  | { readonly type: 'pool-tick' }

export type PoolMessage = Lease | Release | Demand | AskPoolStats | DrainPool | PoolInternal
