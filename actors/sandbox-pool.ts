import { type CancelTimer, type Clock, sleep } from '../src/clock.ts'
import type { ErrorData } from '../src/errors.ts'
import type { IdSource } from '../src/ids.ts'
import type { PoolOptions } from '../src/job/options.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { BreakerLimits } from '../src/pool/breaker.ts'
import { provisioned, stock } from '../src/pool/creates.ts'
import { disposed, lost, retire } from '../src/pool/deletes.ts'
import { type Handles, makeHandles } from '../src/pool/handles.ts'
import { drain, drained, settle } from '../src/pool/pool.ts'
import { makePoolState, type PoolConfig, type PoolPorts, type PoolState } from '../src/pool/pool-state.ts'
import { lease, release, releaseOwner } from '../src/pool/requests.ts'
import type { Runtime } from '../src/runtimes/runtime.ts'
import type { Rate } from '../src/runtimes/token-bucket.ts'
import type { Lease, LeaseReply, PoolMessage, PoolStats } from './messages.ts'

export interface SandboxPoolOptions {
  readonly runtime: Runtime
  readonly pool: PoolOptions
  /** Sandboxes at most: creating, live and deleting together, and those that would not die. */
  readonly maxSandboxes: number
  /** On every sandbox from its create on: `job`, `owner` and what else tells whose it is. */
  readonly labels: Readonly<Record<string, string>>
  readonly ids: IdSource
  /** Creates in flight at most. Default 256: at 512 a measured provider failed one create in a hundred. */
  readonly wave?: number
  /** The account's rate of creates. Default: no limit. */
  readonly createRate?: Rate
  /** Creates sent again for one request after a transient error. Default 2. */
  readonly createRetries?: number
  /** Default: 8 failures in a row, 10 s. */
  readonly breaker?: BreakerLimits
  /** For one create, until its sandbox is ready. Default 120,000. */
  readonly provisionDeadlineMs?: number
  /** For one delete, and for a create that was called off to end. Default 10,000. */
  readonly disposeDeadlineMs?: number
  /** Deletes sent for one sandbox before it is quarantined. Default 3. */
  readonly disposeAttempts?: number
  /** Requests that may wait. Default 10,000. */
  readonly maxWaiting?: number
  /** Above the longest rollout. Each sandbox is labelled with its `expiry`, so that one left behind can be told. Default 6 hours. */
  readonly lifetimeMs?: number
  /** Told of each sandbox that would not die. */
  readonly report?: (error: ErrorData) => void
}

/** What the actor holds beside the pool: its one timer, and who waits for the drain. */
export interface SandboxPoolState {
  readonly pool: PoolState
  readonly drains: Ref<unknown>[]
  tick: { readonly at: number; readonly cancel: CancelTimer } | undefined
}

/**
 * Owns every sandbox of one runtime, from before its create is sent until its delete is confirmed. Each lease gets a fresh one.
 * The value holds what cannot be data (the runtime's objects), so it is spawned once; a restart finds them and disposes of them.
 */
export function sandboxPool(options: SandboxPoolOptions): Actor<SandboxPoolState, PoolMessage> {
  let handles: Handles | undefined
  return {
    name: 'sandbox-pool',
    // Each lease sends the pool four messages.
    capacity: 4 * (options.maxWaiting ?? 10_000),
    initial(context) {
      const left = handles?.ids() ?? []
      handles ??= makeHandles(options.runtime, context.clock, {
        provisionMs: options.provisionDeadlineMs ?? 120_000,
        disposeMs: options.disposeDeadlineMs ?? 10_000,
      })
      const pool = makePoolState(toConfig(options), makePorts(options, handles, context))
      for (const id of left) {
        pool.ledger.open(id, { type: 'cancelling' })
        retire(pool, id, false)
      }
      return { pool, drains: [], tick: undefined }
    },
    receive(state, message, context) {
      handle(state, message, context)
      rest(state, context)
      return state
    },
    onSignal(state, signal, context) {
      if (signal.type === 'terminated') releaseOwner(state.pool, signal.address)
      rest(state, context)
      return state
    },
    async onStop() {
      for (const id of (await handles?.close()) ?? [])
        options.report?.({
          tag: 'sandbox-left',
          message: `sandbox ${id} may still exist; delete it at its provider`,
          address: id,
        })
    },
  }
}

function handle({ pool, drains }: SandboxPoolState, message: PoolMessage, context: Context<PoolMessage>): void {
  switch (message.type) {
    case 'lease':
      // Told rather than asked: nobody would ever learn of the lease.
      if (context.replyTo !== undefined) lease(pool, toRequest(message, context.replyTo, context.clock.now()))
      return
    case 'release':
      release(pool, message.leaseId, message.sessionEnded)
      return
    case 'demand':
      pool.remaining = message.remaining
      return
    case 'pool-stats':
      context.reply(message, toStats(pool))
      return
    case 'drain-pool':
      if (context.replyTo !== undefined) drains.push(context.replyTo)
      drain(pool)
      return
    case 'provisioned':
      provisioned(pool, message.id, message.settled)
      return
    case 'disposed':
      disposed(pool, message.id, message.settled)
      return
    case 'sandbox-lost':
      lost(pool, message.id)
      return
    case 'pool-tick':
      return
  }
}

/** Lets the pool act on what has changed, and sets the one timer for what only the clock can bring. */
function rest(state: SandboxPoolState, context: Context<PoolMessage>): void {
  const now = context.clock.now()
  if (state.tick !== undefined && state.tick.at <= now) {
    state.tick.cancel()
    state.tick = undefined
  }
  const wakeAt = settle(state.pool)
  const done = drained(state.pool)
  if (done !== undefined) for (const asker of state.drains.splice(0)) asker.tell(done)
  // An earlier timer is left to fire in vain: cheaper than to set one anew for each lease.
  if (wakeAt === Number.POSITIVE_INFINITY || (state.tick !== undefined && state.tick.at <= wakeAt)) return
  state.tick?.cancel()
  state.tick = { at: wakeAt, cancel: context.after(Math.max(0, wakeAt - now), { type: 'pool-tick' }) }
}

function toRequest(message: Lease, replyTo: Ref<unknown>, now: number) {
  const { leaseId, runId, task, owner, deadlineMs } = message
  const deadlineAt = now + deadlineMs
  return {
    leaseId,
    runId,
    task,
    owner,
    replyTo,
    arrivedAt: now,
    deadlineAt,
    failures: 0,
    retryAt: 0,
    creating: undefined,
  }
}

function toConfig(options: SandboxPoolOptions): PoolConfig {
  return {
    runtime: options.runtime.name,
    strategy: options.pool.strategy,
    size: options.pool.size,
    maxSandboxes: options.maxSandboxes,
    maxWaiting: options.maxWaiting ?? 10_000,
    wave: options.wave ?? 256,
    createRate: options.createRate,
    createRetries: options.createRetries ?? 2,
    backoff: { baseMs: 250, maxMs: 10_000 },
    breaker: options.breaker ?? { failures: 8, cooldownMs: 10_000 },
    disposeAttempts: options.disposeAttempts ?? 3,
    idPrefix: `sandbox-${options.ids.hex(6)}`,
  }
}

function makePorts(options: SandboxPoolOptions, handles: Handles, context: Context<PoolMessage>): PoolPorts {
  const { clock, self } = context
  const expiryAt = makeExpiry(clock, options.lifetimeMs ?? 6 * 60 * 60_000)
  const answer = (replyTo: Ref<unknown>, reply: LeaseReply) => replyTo.tell(reply)
  return {
    now: () => clock.now(),
    random: () => context.random(),
    provision({ id, task, runId, prewarm }) {
      const labels = {
        ...options.labels,
        sandbox: id,
        expiry: expiryAt(),
        ...(runId === undefined ? {} : { run: runId }),
      }
      const onLost = (error: ErrorData) => self.tell({ type: 'sandbox-lost', id, error })
      const making = handles.provision({ id, task, labels, prewarm, onLost })
      context.pipe(making, settled => ({ type: 'provisioned', id, settled }))
    },
    cancel: id => handles.cancel(id),
    dispose(id, { delayMs, ...how }) {
      const disposing =
        delayMs > 0 ? sleep(clock, delayMs).then(() => handles.dispose(id, how)) : handles.dispose(id, how)
      context.pipe(disposing, settled => ({ type: 'disposed', id, settled }))
    },
    grant: ({ leaseId, replyTo }, sandboxId, { address, sessionId }, kind) =>
      answer(replyTo, { type: 'leased', leaseId, sandboxId, address, sessionId, kind }),
    refuse({ leaseId, replyTo }, error) {
      answer(replyTo, { type: 'refused', leaseId, error })
    },
    watch: owner => context.watch(owner),
    unwatch: owner => context.unwatch(owner),
    report: error => options.report?.(error),
  }
}

function toStats(pool: PoolState): PoolStats {
  const { ledger, breaker, config } = pool
  ledger.check()
  return {
    strategy: config.strategy,
    target: stock(pool).target,
    creating: ledger.count('creating') + ledger.count('stocking'),
    ready: ledger.count('ready'),
    leased: ledger.count('leased'),
    deleting: ledger.count('deleting') + ledger.count('cancelling'),
    quarantined: ledger.count('quarantined'),
    waiting: pool.queue.size,
    created: ledger.created,
    gone: ledger.gone,
    createFailures: pool.createFailures,
    leases: { ...pool.granted },
    breaker: breaker.type === 'closed' ? undefined : breaker.error,
  }
}

/** The label's text, worked out once a minute rather than for each sandbox. */
function makeExpiry(clock: Clock, lifetimeMs: number): () => string {
  let made: { readonly at: number; readonly text: string } | undefined
  return () => {
    const now = clock.wallTime()
    if (made === undefined || now - made.at >= 60_000)
      made = { at: now, text: new Date(now + lifetimeMs + 60_000).toISOString() }
    return made.text
  }
}
