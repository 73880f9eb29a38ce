import { type CancelTimer, type Clock, sleep } from '../src/clock.ts'
import { type ErrorData, toErrorData } from '../src/errors.ts'
import type { LeaseId, SandboxId } from '../src/ids.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { disposed, retire } from '../src/pool/deletes.ts'
import { diagnose } from '../src/pool/diagnosis.ts'
import { forkable } from '../src/pool/forks.ts'
import { type Handles, makeHandles } from '../src/pool/handles.ts'
import { lost } from '../src/pool/losses.ts'
import { drain, drained, settle } from '../src/pool/pool.ts'
import { type SandboxPoolOptions, toPoolConfig } from '../src/pool/pool-options.ts'
import { makePoolState, type PoolPorts, type PoolState } from '../src/pool/pool-state.ts'
import { makeProviderHold, type ProviderHold } from '../src/pool/provider-hold.ts'
import { poolCounted, poolDropped, poolHeld } from '../src/pool/provider-pool.ts'
import { provisioned } from '../src/pool/provisioned.ts'
import { expect, lease, release, releaseOwner } from '../src/pool/requests.ts'
import { toStats } from '../src/pool/stats.ts'
import type { Runtime } from '../src/runtimes/runtime.ts'
import type { Task } from '../src/taskset/task.ts'
import type { Diagnosis, Lease, LeaseLost, LeaseReply, PoolMessage, WhyLost } from './messages.ts'

export type { SandboxPoolOptions }

/** What the actor holds beside the pool: its one timer, and who waits for the drain or to hear why a sandbox was lost. */
export interface SandboxPoolState {
  readonly pool: PoolState
  readonly wondering: Map<SandboxId, Ref<unknown>[]>
  readonly drains: Ref<unknown>[]
  tick: { readonly at: number; readonly cancel: CancelTimer } | undefined
}

/**
 * Owns every sandbox of one runtime, from before its create is sent until its delete is confirmed. Each lease gets a fresh one.
 * The value holds what cannot be data (the runtime's objects), so it is spawned once; a restart finds them and disposes of them.
 */
export function sandboxPool(options: SandboxPoolOptions): Actor<SandboxPoolState, PoolMessage> {
  let handles: Handles | undefined
  let hold: ProviderHold | undefined
  return {
    name: 'sandbox-pool',
    // Each lease sends the pool four messages.
    capacity: 4 * (options.maxWaiting ?? 10_000),
    initial(context) {
      const left = handles?.ids() ?? []
      handles ??= makeHandles(options.runtime, context.clock, {
        provisionMs: options.provisionDeadlineMs ?? PROVISION_MS,
        disposeMs: options.disposeDeadlineMs ?? 10_000,
      })
      if (options.runtime.providerPool !== undefined)
        hold ??= makeProviderHold(options.runtime.providerPool, context.clock)
      const config = toPoolConfig(options)
      const pool = makePoolState(config, makePorts(options, config.source.type === 'fork', handles, hold, context))
      for (const id of left) {
        pool.ledger.open(id, { type: 'cancelling' })
        retire(pool, id, false)
      }
      return { pool, wondering: new Map(), drains: [], tick: undefined }
    },
    receive(state, message, context) {
      if (message.type === 'why-lost') wonder(state, message.leaseId, options.runtime, context)
      else handle(state, message, options.runtime, context)
      rest(state, context)
      return state
    },
    onSignal(state, signal, context) {
      if (signal.type === 'terminated') releaseOwner(state.pool, signal.address)
      rest(state, context)
      return state
    },
    async onStop() {
      // A drain has let go of it already; this is for a pool that is stopped without one.
      await hold?.drop().catch(error => options.report?.(toErrorData(error)))
      for (const id of (await handles?.close()) ?? [])
        options.report?.({
          tag: 'sandbox-left',
          message: `sandbox ${id} may still exist; delete it at its provider`,
          address: id,
        })
    },
  }
}

const PROVISION_MS = 120_000

type Handled = Exclude<PoolMessage, WhyLost>

function handle(state: SandboxPoolState, message: Handled, runtime: Runtime, context: Context<PoolMessage>): void {
  const { pool, drains } = state
  switch (message.type) {
    case 'lease':
      // Told rather than asked: nobody would ever learn of the lease.
      if (context.replyTo !== undefined) lease(pool, toRequest(message, runtime, context.replyTo, context.clock.now()))
      return
    case 'release':
      release(pool, message.leaseId, message.sessionEnded)
      return
    case 'demand':
      expect(pool, message.remaining)
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
    case 'sandbox-forkable':
      forkable(pool, message.id)
      return
    case 'sandbox-lost':
      lost(pool, message.id, message.error)
      tellOwner(pool, message.id, message.error)
      explain(state, message.id, message.error)
      return
    case 'diagnosed':
      explain(state, message.id, message.settled.ok ? message.settled.value : undefined)
      return
    case 'pool-held':
      poolHeld(pool, message.settled)
      return
    case 'pool-counted':
      poolCounted(pool, message.settled)
      return
    case 'pool-dropped':
      poolDropped(pool, message.settled)
      return
    case 'pool-tick':
      // Timers count whole milliseconds, so that this may come a fraction before what it is for, which is then waited for anew.
      state.tick?.cancel()
      state.tick = undefined
      return
  }
}

/** Whoever still connects to what is gone may not notice before its deadline. */
function tellOwner({ ledger, owners }: PoolState, id: SandboxId, error: ErrorData): void {
  const sandbox = ledger.get(id)
  if (sandbox?.type !== 'leased') return
  const { leaseId } = sandbox
  owners.ownerOf(leaseId)?.tell({ type: 'lease-lost', leaseId, error } satisfies LeaseLost)
}

/** Answers from what was told of the sandbox's end, or asks its runtime, once for all who ask. */
function wonder(
  { pool, wondering }: SandboxPoolState,
  leaseId: LeaseId,
  runtime: Runtime,
  context: Context<PoolMessage>,
) {
  const { replyTo } = context
  const id = pool.leases.get(leaseId)
  if (replyTo === undefined) return
  const known = id === undefined ? undefined : pool.lost.get(id)
  if (id === undefined || known !== undefined) {
    replyTo.tell({ type: 'diagnosis', error: known } satisfies Diagnosis)
    return
  }
  const others = wondering.get(id)
  wondering.set(id, [...(others ?? []), replyTo])
  if (others === undefined)
    context.pipe(diagnose(runtime, id, context.clock), settled => ({ type: 'diagnosed', id, settled }))
}

function explain({ wondering }: SandboxPoolState, id: SandboxId, error: ErrorData | undefined): void {
  for (const asker of wondering.get(id) ?? []) asker.tell({ type: 'diagnosis', error } satisfies Diagnosis)
  wondering.delete(id)
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

function toRequest(message: Lease, runtime: Runtime, replyTo: Ref<unknown>, now: number) {
  const { leaseId, runId, task, owner, deadlineMs, isExtra } = message
  const deadlineAt = now + deadlineMs
  return {
    leaseId,
    runId,
    task,
    kind: runtime.kindOf?.(task),
    isExtra,
    owner,
    replyTo,
    arrivedAt: now,
    deadlineAt,
    failures: 0,
    retryAt: 0,
    creating: undefined,
  }
}

function makePorts(
  options: SandboxPoolOptions,
  isForking: boolean,
  handles: Handles,
  hold: ProviderHold | undefined,
  context: Context<PoolMessage>,
): PoolPorts {
  const { clock, self } = context
  const expiryAt = makeExpiry(clock, options.lifetimeMs ?? 6 * 60 * 60_000)
  const answer = (replyTo: Ref<unknown>, reply: LeaseReply) => replyTo.tell(reply)
  return {
    now: () => clock.now(),
    random: () => context.random(),
    provision({ id, task, runId, prewarm, parent }) {
      const labels = {
        ...options.labels,
        sandbox: id,
        expiry: expiryAt(),
        ...(runId === undefined ? {} : { run: runId }),
      }
      const onLost = (error: ErrorData) => self.tell({ type: 'sandbox-lost', id, error })
      const request = {
        id,
        task,
        labels,
        prewarm,
        onLost,
        ...(parent === undefined ? {} : { parent }),
        ...(isForking ? { onForkable: () => void self.tell({ type: 'sandbox-forkable', id }) } : {}),
      }
      const making = handles.provision(request, provisionMs(options, task))
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
    holdPool: size => hold && context.pipe(hold.hold(size), settled => ({ type: 'pool-held', settled })),
    countPool: () => hold && context.pipe(hold.ready(), settled => ({ type: 'pool-counted', settled })),
    dropPool: () => hold && context.pipe(hold.drop(), settled => ({ type: 'pool-dropped', settled })),
    watch: owner => context.watch(owner),
    unwatch: owner => context.unwatch(owner),
    report: error => options.report?.(error),
  }
}

/** For the runtime to keep to the task's own limit on its start, where it has one, and to clean up. */
const START_GRACE_MS = 30_000

function provisionMs({ runtime, provisionDeadlineMs }: SandboxPoolOptions, task: Task | undefined): number {
  const standard = provisionDeadlineMs ?? PROVISION_MS
  const startS = task === undefined ? undefined : runtime.configure?.(task).config.limits?.startup_timeout_s
  return startS === undefined ? standard : Math.max(standard, startS * 1_000 + START_GRACE_MS)
}

/** The label's text, worked out once a minute rather than for each sandbox. */
function makeExpiry(clock: Clock, lifetimeMs: number): () => string {
  let made: { readonly at: number; readonly text: string } | undefined
  return () => {
    const now = clock.wallTime()
    // A clock that is set back does not make the old text good again.
    if (made === undefined || Math.abs(now - made.at) >= 60_000)
      made = { at: now, text: new Date(now + lifetimeMs + 60_000).toISOString() }
    return made.text
  }
}
