import type { ErrorData } from '../errors.ts'
import { type SandboxId, toSandboxId } from '../ids.ts'
import type { Settled } from '../kernel/actor.ts'
import { afterCancel, afterFailure, afterStart, afterSuccess, mayCreate } from './breaker.ts'
import { quarantine, retire } from './deletes.ts'
import { provisionFailed } from './errors.ts'
import type { LeaseRequest } from './lease-queue.ts'
import { backoffMs, type PoolState } from './pool-state.ts'
import { assign, refuse, serve } from './requests.ts'
import type { Reachable } from './sandbox-state.ts'
import { boundStock, type Stock } from './sizing.ts'

/** What the pool wants to hold ready now. */
export function stock({ config, draining, meter, remaining }: PoolState): Stock {
  if (config.strategy === 'cold' || draining) return { target: 0, most: 0 }
  // Before anything is measured, `auto` prepares for one batch as wide as the pool may be.
  return boundStock(config.size === 'auto' ? (meter.wished() ?? config.maxSandboxes) : config.size, remaining)
}

/** Disposes of what is ready, and calls off what is being made, beyond what is wanted. */
export function trim(state: PoolState): void {
  const { ledger, ports } = state
  let surplus = ledger.count('ready') + ledger.count('stocking') - stock(state).most
  for (; surplus > 0; surplus -= 1) {
    const unborn = ledger.oldest('stocking')
    const ready = ledger.oldest('ready')
    if (unborn !== undefined) {
      ledger.move(unborn, { type: 'cancelling' })
      ports.cancel(unborn)
    } else if (ready !== undefined) retire(state, ready, false)
  }
}

/** Sends creates, first for the requests that wait, then ahead of demand, as far as cap, wave, breaker and bucket allow. */
export function fill(state: PoolState): void {
  const { ports, unserved } = state
  if (state.draining) return
  const now = ports.now()
  for (const request of unserved.values()) {
    if (request.retryAt > now) continue
    if (!admit(state, now)) return
    create(state, request)
  }
  if (now < state.stockRetryAt) return
  for (let missing = missingStock(state); missing > 0 && admit(state, now); missing -= 1) create(state, undefined)
}

/** How many may be created ahead of demand. A request whose retry is waiting is entitled to room before stock is. */
function missingStock(state: PoolState): number {
  const { config, ledger, unserved } = state
  const missing = stock(state).target - ledger.count('ready') - ledger.count('stocking')
  return Math.min(missing, config.maxSandboxes - ledger.size - unserved.size)
}

/** A create has ended. */
export function provisioned(state: PoolState, id: SandboxId, settled: Settled<Reachable>): void {
  const { ledger, meter, ports } = state
  const sandbox = ledger.get(id)
  if (sandbox === undefined) return
  if (!settled.ok) {
    createFailed(state, id, settled.error)
    return
  }
  if (sandbox.type !== 'creating' && sandbox.type !== 'stocking') {
    state.breaker = afterCancel(state.breaker, ports.now())
    if (sandbox.type === 'cancelling') retire(state, id, false)
    return
  }
  state.breaker = afterSuccess()
  state.stockFailures = 0
  meter.refilled(ports.now() - sandbox.since)
  if (sandbox.type === 'creating') unassign(state, sandbox.request)
  ledger.move(id, { type: 'ready', since: ports.now(), at: settled.value })
  serve(state, 'cold')
}

/** The earliest time at which something becomes possible that is not possible now. Infinity when only an event can. */
export function nextCreateAt(state: PoolState): number {
  const { breaker, bucket, config, ledger, ports, unserved } = state
  const now = ports.now()
  if (state.draining || ledger.size >= config.maxSandboxes || inFlight(state) >= config.wave)
    return Number.POSITIVE_INFINITY
  let wanted = missingStock(state) > 0 ? state.stockRetryAt : Number.POSITIVE_INFINITY
  for (const request of unserved.values()) wanted = Math.min(wanted, request.retryAt)
  if (wanted === Number.POSITIVE_INFINITY || breaker.type === 'probing') return Number.POSITIVE_INFINITY
  return Math.max(wanted, bucket.nextAt(now), breaker.type === 'open' ? breaker.until : now)
}

function inFlight({ ledger }: PoolState): number {
  return ledger.count('creating') + ledger.count('stocking') + ledger.count('cancelling')
}

function admit(state: PoolState, now: number): boolean {
  const { breaker, bucket, config, ledger } = state
  return (
    ledger.size < config.maxSandboxes && inFlight(state) < config.wave && mayCreate(breaker, now) && bucket.take(now)
  )
}

function create(state: PoolState, request: LeaseRequest | undefined): void {
  const { config, ledger, ports } = state
  const id = toSandboxId(`${config.idPrefix}-${ledger.created}`)
  state.breaker = afterStart(state.breaker)
  ledger.open(id, { type: 'stocking', since: ports.now() })
  if (request !== undefined) assign(state, id, request)
  const purpose =
    request === undefined ? { prewarm: true } : { prewarm: false, task: request.task, runId: request.runId }
  ports.provision({ id, ...purpose })
}

function createFailed(state: PoolState, id: SandboxId, error: ErrorData): void {
  const { config, ledger, ports } = state
  const now = ports.now()
  const sandbox = ledger.get(id)
  if (sandbox?.type === 'creating') unassign(state, sandbox.request)
  // Nothing but a stuck create leaves anything behind: a runtime cleans up what it made before it rejects.
  if (error.tag === 'provision-stuck') quarantine(state, id, 1, error)
  else ledger.close(id)
  if (sandbox?.type !== 'creating' && sandbox?.type !== 'stocking') {
    state.breaker = afterCancel(state.breaker, now)
    return
  }
  state.createFailures += 1
  state.breaker = afterFailure(state.breaker, error, now, config.breaker)
  const retryAfterMs = error.details?.retryAfterMs
  if (typeof retryAfterMs === 'number') state.bucket.pause(now + retryAfterMs)
  if (sandbox.type === 'creating') requestFailed(state, sandbox.request, error)
  else {
    state.stockFailures += 1
    state.stockRetryAt = now + backoffMs(state, state.stockFailures)
  }
}

function requestFailed(state: PoolState, request: LeaseRequest, error: ErrorData): void {
  request.failures += 1
  if (error.transient !== true || request.failures > state.config.createRetries)
    refuse(state, request, provisionFailed(state.config.runtime, request.failures, error))
  else request.retryAt = state.ports.now() + backoffMs(state, request.failures)
}

/** The request is without a create again. */
function unassign(state: PoolState, request: LeaseRequest): void {
  request.creating = undefined
  state.unserved.set(request.leaseId, request)
}
