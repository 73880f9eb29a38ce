import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { Settled } from '../kernel/actor.ts'
import { afterCancel, afterFailure, afterSuccess } from './breaker.ts'
import { inFlight } from './creates.ts'
import { quarantine, retire } from './deletes.ts'
import { provisionFailed } from './errors.ts'
import { abandonForks, discard, forkCreated } from './forks.ts'
import type { LeaseRequest } from './lease-queue.ts'
import { backoffMs, type PoolState } from './pool-state.ts'
import { handOver, refuse, unassign } from './requests.ts'
import type { Reachable } from './sandbox-state.ts'

/** A create has ended. */
export function provisioned(state: PoolState, id: SandboxId, settled: Settled<Reachable>): void {
  const { ledger, tree } = state
  const sandbox = ledger.get(id)
  if (sandbox === undefined) return
  tree.making.delete(id)
  if (settled.ok) made(state, id, settled.value)
  else createFailed(state, id, settled.error)
}

function made(state: PoolState, id: SandboxId, at: Reachable): void {
  const { ledger, meter, ports, tree } = state
  const sandbox = ledger.get(id)
  const forking = tree.isForking(id)
  forkCreated(state, id, 'ok')
  switch (sandbox?.type) {
    case 'rooting':
      ledger.move(id, { type: 'root', at })
      if (!forking) tree.roots.set(id, id)
      break
    case 'stocking':
      ledger.move(id, { type: forking ? 'forking' : 'ready', at })
      break
    case 'creating':
      if (sandbox.request.kind !== undefined && !state.lost.has(id)) {
        handOver(state, id, at, sandbox.request)
        state.breaker = afterSuccess()
        return
      }
      // Handed out by `serve`, to whoever has waited longest.
      if (!forking) unassign(state, sandbox.request)
      ledger.move(id, forking ? { type: 'owed', at, request: sandbox.request } : { type: 'ready', at })
      break
    default:
      state.breaker = afterCancel(state.breaker, ports.now())
      if (sandbox?.type !== 'cancelling') return
      if (forking) ledger.move(id, { type: 'leaving' })
      else retire(state, id, false)
      return
  }
  state.breaker = afterSuccess()
  state.stockFailures = 0
  meter.refilled(ports.now() - sandbox.since)
  if (state.lost.has(id)) discard(state, id)
}

function createFailed(state: PoolState, id: SandboxId, error: ErrorData): void {
  const { config, ledger, ports, tree } = state
  const now = ports.now()
  const sandbox = ledger.get(id)
  const blame = toBlame(error, tree.parentOf(id) !== undefined)
  // A row may ask for an image that there is not: that says nothing of anybody else's.
  const isRows = sandbox?.type === 'creating' && sandbox.request.kind !== undefined && error.transient !== true
  if (sandbox?.type === 'creating') unassign(state, sandbox.request)
  // Nothing but a stuck create leaves anything behind: a runtime cleans up what it made before it rejects.
  if (error.tag === 'provision-stuck') quarantine(state, id, 1, error)
  else ledger.close(id)
  tree.forget(id)
  state.lost.delete(id)
  const wasWanted = sandbox?.type === 'rooting' || sandbox?.type === 'stocking' || sandbox?.type === 'creating'
  forkCreated(state, id, wasWanted && blame === 'provider' ? 'failed' : 'not-its-fault')
  if (!wasWanted) {
    state.breaker = afterCancel(state.breaker, now)
    return
  }
  state.createFailures += 1
  if (blame === 'no-forks') abandonForks(state, error)
  const retryAfterMs = error.details?.retryAfterMs
  if (typeof retryAfterMs === 'number') state.bucket.pause(now + retryAfterMs)
  state.breaker =
    blame === 'provider' && !isRows
      ? afterFailure(state.breaker, error, now, config.breaker, inFlight(state))
      : afterCancel(state.breaker, now)
  if (sandbox.type === 'creating') requestFailed(state, sandbox.request, error, blame)
  else if (blame === 'provider') {
    state.stockFailures += 1
    state.stockRetryAt = now + backoffMs(state, state.stockFailures)
  }
}

/**
 * Whom a failed create speaks against. A limit on the rate is no failure of the provider: nobody's attempt is counted, and all wait as long as it
 * says. Nor is a runtime that turns out not to fork.
 */
type Blame = 'provider' | 'rate' | 'no-forks'

function toBlame(error: ErrorData, isFork: boolean): Blame {
  if (isFork && error.tag === 'fork-unsupported' && error.transient !== true) return 'no-forks'
  return error.transient === true && typeof error.details?.retryAfterMs === 'number' ? 'rate' : 'provider'
}

function requestFailed(state: PoolState, request: LeaseRequest, error: ErrorData, blame: Blame): void {
  const now = state.ports.now()
  request.lastError = error
  if (blame !== 'provider') return
  request.failures += 1
  if (error.transient !== true || request.failures > state.config.createRetries) {
    refuse(state, request, provisionFailed(state.config.runtime, request.failures, error))
    return
  }
  request.retryAt = now + backoffMs(state, request.failures)
  state.unserved.delete(request.leaseId)
  state.unserved.add(request, now)
}
