import type { ErrorData } from '../errors.ts'
import type { LeaseId, RunId, SandboxId } from '../ids.ts'
import type { Ref } from '../kernel/ref.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import { makeTokenBucket, type Rate, type TokenBucket } from '../runtimes/token-bucket.ts'
import type { Task } from '../taskset/task.ts'
import { type Breaker, type BreakerLimits, closedBreaker } from './breaker.ts'
import { type DemandMeter, makeDemandMeter } from './demand-meter.ts'
import { type ForkTree, makeForkTree } from './fork-tree.ts'
import { type LeaseQueue, type LeaseRequest, makeLeaseQueue } from './lease-queue.ts'
import { type Ledger, makeLedger } from './ledger.ts'
import { makeOwners, type Owners } from './owners.ts'
import type { ProviderPoolState } from './provider-pool.ts'
import type { Reachable } from './sandbox-state.ts'
import type { SourcePlan } from './source.ts'
import { makeUnserved, type Unserved } from './unserved.ts'

/** The pool's settings with every default filled in. */
export interface PoolConfig {
  /** The runtime's name, for messages. */
  readonly runtime: string
  readonly strategy: 'cold' | 'prewarm'
  readonly size: number | 'auto'
  readonly source: SourcePlan
  readonly maxSandboxes: number
  /** Requests that may wait. */
  readonly maxWaiting: number
  /** Creates in flight at most. */
  readonly wave: number
  /** Creates in flight at most as long as there is nothing to fork, where sandboxes are forked. */
  readonly seeds: number
  /** The account's limit on creates, shared with whoever else draws on the account; or one for this pool alone. */
  readonly creates: TokenBucket | undefined
  readonly createRate: Rate | undefined
  /** Creates sent again for one request after a transient error. */
  readonly createRetries: number
  /** Pause before attempt n+1, for creates and deletes: `min(maxMs, baseMs * 2^(n-1))`, times a random factor from 0.5 to 1. */
  readonly backoff: { readonly baseMs: number; readonly maxMs: number }
  readonly breaker: BreakerLimits
  /** Deletes sent for one sandbox before it is quarantined. */
  readonly disposeAttempts: number
  /** The start of every sandbox's id; nobody else's sandboxes have it. */
  readonly idPrefix: string
}

/** What the pool makes happen. Answers come back as events: `forkable`, `provisioned`, `disposed`, `poolHeld`, `poolCounted`, `poolDropped`. */
export interface PoolPorts {
  now(): number
  /** A number in [0, 1). */
  random(): number
  provision(create: {
    readonly id: SandboxId
    readonly task?: Task
    readonly runId?: RunId
    readonly prewarm: boolean
    /** To be a fork of this one. Absent: created from nothing. */
    readonly parent?: SandboxId
  }): void
  /** Calls a create off. Its `provisioned` event still comes. */
  cancel(id: SandboxId): void
  /** After `delayMs`; without a deadline of its own where `patient`. */
  dispose(
    id: SandboxId,
    how: { readonly sessionEnded: boolean; readonly delayMs: number; readonly patient?: true },
  ): void
  /** False when the asker is known to be gone: the sandbox has then not been touched. */
  grant(request: LeaseRequest, id: SandboxId, at: Reachable, kind: LeaseKind): boolean
  refuse(request: LeaseRequest, error: ErrorData): void
  /** The provider's own pool: each has a deadline, and `dropPool` waits for a hold that is under way. */
  holdPool(size: number): void
  countPool(): void
  dropPool(): void
  watch(owner: Ref<never>): void
  unwatch(owner: Ref<never>): void
  /** Something that a person must hear of: a sandbox that would not die, a source that is not to be had. */
  report(error: ErrorData): void
}

/** All that one pool knows. Owned by the actor, which hands it from one message to the next. */
export interface PoolState {
  readonly config: PoolConfig
  readonly ports: PoolPorts
  readonly ledger: Ledger
  readonly queue: LeaseQueue
  /** The requests of `queue` for which no create is under way. */
  readonly unserved: Unserved
  readonly tree: ForkTree
  /** Leases given out, and their sandboxes. */
  readonly leases: Map<LeaseId, SandboxId>
  /** Why sandboxes died by themselves that are leased, or whose create has not been told of yet. */
  readonly lost: Map<SandboxId, ErrorData>
  readonly owners: Owners
  readonly bucket: TokenBucket
  readonly meter: DemandMeter
  readonly granted: Record<LeaseKind, number>
  /** What is tried now; `create` with a reason where another was wanted. */
  source: SourcePlan & { readonly why?: ErrorData }
  providerPool: ProviderPoolState
  breaker: Breaker
  createFailures: number
  /** Creates ahead of demand that failed in a row, and the time before which no other is sent. */
  stockFailures: number
  stockRetryAt: number
  /** Leases that the job will still ask for. */
  remaining: number
  /** The most that was ever still to come or waiting. */
  peakDemand: number
  draining: boolean
}

export function makePoolState(config: PoolConfig, ports: PoolPorts): PoolState {
  return {
    config,
    ports,
    ledger: makeLedger(),
    queue: makeLeaseQueue(config.maxWaiting),
    unserved: makeUnserved(),
    tree: makeForkTree(),
    leases: new Map(),
    lost: new Map(),
    owners: makeOwners(),
    bucket: config.creates ?? makeTokenBucket(config.createRate),
    meter: makeDemandMeter(),
    granted: { hit: 0, cold: 0, claim: 0, fork: 0 },
    source: config.source,
    providerPool:
      config.source.type === 'provider-pool' ? { type: 'unasked', size: config.source.size } : { type: 'unused' },
    breaker: closedBreaker,
    createFailures: 0,
    stockFailures: 0,
    stockRetryAt: 0,
    remaining: 0,
    peakDemand: 0,
    draining: false,
  }
}

/** The pause after `failures` failures in a row. */
export function backoffMs({ config, ports }: PoolState, failures: number): number {
  const { baseMs, maxMs } = config.backoff
  return Math.min(maxMs, baseMs * 2 ** (failures - 1)) * (0.5 + ports.random() / 2)
}
