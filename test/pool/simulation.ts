import type { ErrorData } from '../../src/errors.ts'
import { type LeaseId, type SandboxId, toLeaseId, toRunId } from '../../src/ids.ts'
import type { Settled } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { disposed } from '../../src/pool/deletes.ts'
import { forkable } from '../../src/pool/forks.ts'
import type { LeaseRequest } from '../../src/pool/lease-queue.ts'
import { lost } from '../../src/pool/losses.ts'
import { drain, drained, settle } from '../../src/pool/pool.ts'
import { makePoolState, type PoolConfig, type PoolPorts, type PoolState } from '../../src/pool/pool-state.ts'
import { poolCounted, poolDropped, poolHeld } from '../../src/pool/provider-pool.ts'
import { provisioned } from '../../src/pool/provisioned.ts'
import { expect, lease, release, releaseOwner } from '../../src/pool/requests.ts'
import type { LeaseKind, SandboxOrigin } from '../../src/runtimes/runtime.ts'
import type { Task } from '../../src/taskset/task.ts'
import { ForkAccount } from './fork-account.ts'
import { KindAccount } from './kind-account.ts'

export const task: Task = { env: 'calc', id: 'fix', args: {}, slug: 'fix' }

export const defaults: PoolConfig = {
  runtime: 'simulated',
  strategy: 'cold',
  size: 0,
  source: { type: 'create' },
  maxSandboxes: 4,
  maxWaiting: 100,
  wave: 256,
  seeds: 32,
  creates: undefined,
  createRate: undefined,
  createRetries: 2,
  backoff: { baseMs: 100, maxMs: 1_000 },
  breaker: { failures: 1_000, cooldownMs: 5_000 },
  disposeAttempts: 3,
  idPrefix: 'sandbox',
}

export type Outcome =
  | { readonly type: 'leased'; readonly id: SandboxId; readonly kind: LeaseKind; readonly at: number }
  | { readonly type: 'refused'; readonly error: ErrorData }

/** A create that the provider has been sent. */
export interface Create {
  readonly id: SandboxId
  readonly at: number
  readonly prewarm: boolean
  readonly parent: SandboxId | undefined
  /** Of the task that it was made for. */
  readonly kind: string | undefined
  cancelled: boolean
}

const toSettled = <Value>(value: Value, error: ErrorData | undefined): Settled<Value> =>
  error === undefined ? { ok: true, value } : { ok: false, error }

const nowhere = (address: string): Ref<unknown> => ({ address, tell: () => true })

type Asked = Pick<LeaseRequest, 'kind' | 'isExtra'> & { owner?: string; deadlineMs?: number; deaf?: boolean }

/** A pool whose provider, askers and time are all moved by hand. It keeps its own account of what exists. */
export class Simulation {
  now = 0
  wakeAt = Number.POSITIVE_INFINITY
  readonly state: PoolState
  /** Creates and deletes whose end has not been told yet. */
  readonly creating = new Map<SandboxId, Create>()
  readonly deleting = new Set<SandboxId>()
  /** What exists, may exist, or is about to exist at the provider. */
  readonly existing = new Set<SandboxId>()
  readonly outcomes = new Map<LeaseId, Outcome>()
  readonly watched = new Set<string>()
  readonly reports: ErrorData[] = []
  /** Lease ids whose asker is known to be gone. */
  readonly deaf = new Set<LeaseId>()
  readonly creates: Create[] = []
  readonly forks = new ForkAccount()
  readonly kinds = new KindAccount()
  /** What the provider was asked about its own pool. */
  readonly asked: string[] = []
  /** Told of each create as it is sent. */
  onCreate: (create: Create) => void = () => {}
  onDelete: (id: SandboxId) => void = () => {}
  private requests = 0

  constructor(config: Partial<PoolConfig> = {}) {
    const ports: PoolPorts = {
      now: () => this.now,
      random: () => 1,
      provision: ({ id, task: madeFor, prewarm, parent }) => {
        const kind = madeFor?.runtime_config?.image
        this.kinds.begin(id, kind, parent)
        const create = { id, at: this.now, prewarm, parent, kind, cancelled: false }
        if (parent !== undefined) {
          const state = this.state.ledger.get(parent)?.type
          if (state === 'leased' || state === 'deleting') throw new Error(`${parent} is ${state} and forked`)
          this.forks.begin(parent, id)
        }
        this.creates.push(create)
        this.creating.set(id, create)
        this.existing.add(id)
        this.onCreate(create)
      },
      cancel: id => {
        if (this.forks.isForking(id)) throw new Error(`${id} was called off while a fork of it is in flight`)
        const create = this.creating.get(id)
        if (create !== undefined) create.cancelled = true
      },
      dispose: (id, { patient }) => {
        if (this.forks.isForking(id) && patient !== true)
          throw new Error(`${id} was deleted while a fork of it is in flight`)
        this.deleting.add(id)
        this.onDelete(id)
      },
      holdPool: size => void this.asked.push(`hold ${size}`),
      countPool: () => void this.asked.push('count'),
      dropPool: () => void this.asked.push('drop'),
      grant: (request, id, _at, kind) => {
        if (this.forks.isForking(id)) throw new Error(`${id} was leased while a fork of it is in flight`)
        this.kinds.granted(id, request.kind)
        if (this.deaf.has(request.leaseId)) return false
        this.answer(request.leaseId, { type: 'leased', id, kind, at: this.now })
        return true
      },
      refuse: (request, error) => this.answer(request.leaseId, { type: 'refused', error }),
      watch: owner => void this.watched.add(owner.address),
      unwatch: owner => void this.watched.delete(owner.address),
      report: error => void this.reports.push(error),
    }
    this.state = makePoolState({ ...defaults, ...config }, ports)
  }

  lease(options: Asked = {}): LeaseId {
    const { kind } = options
    this.requests += 1
    const leaseId = toLeaseId(`lease-${this.requests}`)
    if (options.deaf === true) this.deaf.add(leaseId)
    lease(this.state, {
      leaseId,
      runId: toRunId(`run-${this.requests}`),
      task: kind === undefined ? task : { ...task, runtime_config: { image: kind } },
      kind,
      isExtra: options.isExtra,
      owner: nowhere(options.owner ?? 'owner'),
      replyTo: nowhere('asker'),
      arrivedAt: this.now,
      deadlineAt: this.now + (options.deadlineMs ?? 60_000),
      failures: 0,
      retryAt: 0,
      creating: undefined,
    })
    this.settle()
    return leaseId
  }

  release(leaseId: LeaseId): void {
    release(this.state, leaseId, true)
    this.settle()
  }

  ownerGone(owner: string): void {
    if (this.watched.has(owner)) releaseOwner(this.state, owner)
    this.settle()
  }

  demand(remaining: number): void {
    expect(this.state, remaining)
    this.settle()
  }

  /** The provider would fork it from now on, and has made what it is a fork of free again. */
  forkable(id: SandboxId | undefined): void {
    if (id === undefined || !this.creating.has(id) || this.forks.forkables.has(id)) return
    this.forks.end(id)
    this.forks.forkables.add(id)
    forkable(this.state, id)
    this.settle()
  }

  /** Ends a create: the oldest without an id. */
  created(id: SandboxId | undefined = this.creating.keys().next().value, origin?: SandboxOrigin): void {
    const create = id === undefined ? undefined : this.creating.get(id)
    if (id === undefined || create === undefined) return
    this.creating.delete(id)
    this.forks.end(id)
    this.forks.forkables.add(id)
    const address = { kind: 'unix', path: `/${id}` } as const
    const made = { address, sessionId: undefined, origin: origin ?? (create.parent === undefined ? 'cold' : 'fork') }
    provisioned(this.state, id, { ok: true, value: made })
    this.settle()
  }

  createFailed(error: Partial<ErrorData> = {}, id: SandboxId | undefined = this.creating.keys().next().value): void {
    if (id === undefined) return
    this.creating.delete(id)
    this.forks.end(id)
    this.existing.delete(id)
    this.forks.gone(id)
    if (error.tag === 'provision-stuck') this.existing.add(id)
    provisioned(this.state, id, { ok: false, error: { tag: 'no-luck', message: 'no luck', ...error } })
    this.settle()
  }

  deleted(id: SandboxId | undefined = this.deleting.values().next().value): void {
    if (id === undefined) return
    this.deleting.delete(id)
    this.existing.delete(id)
    this.forks.gone(id)
    disposed(this.state, id, { ok: true, value: undefined })
    this.settle()
  }

  deleteFailed(id: SandboxId | undefined = this.deleting.values().next().value): void {
    if (id === undefined) return
    this.deleting.delete(id)
    disposed(this.state, id, { ok: false, error: { tag: 'still-there', message: 'still there' } })
    this.settle()
  }

  lost(id: SandboxId): void {
    this.forks.forkables.delete(id)
    lost(this.state, id, { tag: 'sandbox-lost', message: 'gone' })
    this.settle()
  }

  poolHeld(error?: ErrorData): void {
    poolHeld(this.state, toSettled(undefined, error))
    this.settle()
  }

  poolCounted(ready: number, error?: ErrorData): void {
    poolCounted(this.state, toSettled(ready, error))
    this.settle()
  }

  poolDropped(error?: ErrorData): void {
    poolDropped(this.state, toSettled(undefined, error))
    this.settle()
  }

  advance(ms: number): void {
    const end = this.now + ms
    while (this.wakeAt <= end) {
      this.now = Math.max(this.now, this.wakeAt)
      this.settle()
      if (this.wakeAt <= this.now) throw new Error('the pool wants to be woken at once, for ever')
    }
    this.now = end
  }

  drain(): void {
    drain(this.state)
    this.settle()
  }

  get drained() {
    return drained(this.state)
  }

  /** A provider that does all it is asked until nothing is left to do. */
  run(): void {
    for (let round = 0; round < 10_000; round += 1) {
      if (this.creating.size > 0) this.created()
      else if (this.deleting.size > 0) this.deleted()
      else return
    }
    throw new Error('the pool never comes to rest')
  }

  private settle(): void {
    this.wakeAt = settle(this.state)
    this.check()
  }

  private answer(leaseId: LeaseId, outcome: Outcome): void {
    if (this.outcomes.has(leaseId)) throw new Error(`${leaseId} was answered twice`)
    this.outcomes.set(leaseId, outcome)
  }

  /** What must hold after every event. */
  private check(): void {
    const { config, ledger, remaining } = this.state
    ledger.check()
    if (ledger.size !== this.existing.size)
      throw new Error(`the pool holds ${ledger.size} sandboxes, but ${this.existing.size} exist`)
    for (const id of this.existing) if (ledger.get(id) === undefined) throw new Error(`${id} exists and nobody owns it`)
    if (this.existing.size > config.maxSandboxes) throw new Error('more sandboxes than the limit')
    if (this.creating.size > config.wave) throw new Error('more creates in flight than a wave')
    if (ledger.count('ready') + ledger.count('forking') + ledger.count('stocking') > Math.max(0, remaining))
      throw new Error('more prewarmed than is still asked for')
    if (ledger.count('root') + ledger.count('rooting') > (config.source.type === 'fork' ? config.source.parents : 0))
      throw new Error('more parents than are to be kept')
    if (this.state.tree.inFlight !== this.forks.inFlight)
      throw new Error(`the pool knows of ${this.state.tree.inFlight} forks, but ${this.forks.inFlight} are in flight`)
    if (this.state.queue.front() !== undefined && ledger.count('ready') > 0)
      throw new Error('a request waits beside a ready sandbox')
  }
}
