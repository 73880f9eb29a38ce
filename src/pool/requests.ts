import type { ErrorData } from '../errors.ts'
import type { LeaseId, SandboxId } from '../ids.ts'
import { retire } from './deletes.ts'
import {
  breakerOpen,
  draining,
  leaseRepeated,
  leaseTimeout,
  leaseWithdrawn,
  ownerGone,
  poolExhausted,
  queueFull,
} from './errors.ts'
import type { LeaseRequest } from './lease-queue.ts'
import type { PoolState } from './pool-state.ts'
import type { Reachable } from './sandbox-state.ts'

/** Takes a request in: from the shelf at once if something is ready, else at the end of the queue. */
export function lease(state: PoolState, request: LeaseRequest): void {
  const { ports, owners } = state
  const objection = admit(state, request)
  if (objection !== undefined) {
    ports.refuse(request, objection)
    return
  }
  if (owners.add(request.leaseId, request.owner)) ports.watch(request.owner)
  state.unserved.add(request, state.ports.now())
  serve(state, true)
  // What is already being made ahead of demand is made for this request from now on.
  if (request.kind !== undefined) return
  const spare = state.ledger.oldest('forking') ?? state.ledger.oldest('stocking')
  if (spare !== undefined && state.unserved.has(request.leaseId)) assign(state, spare, request)
}

/** Gives a lease back or withdraws its request. */
export function release(state: PoolState, leaseId: LeaseId, sessionEnded: boolean): void {
  const waiting = state.queue.get(leaseId)
  const id = state.leases.get(leaseId)
  if (waiting !== undefined) refuse(state, waiting, leaseWithdrawn(leaseId))
  if (id === undefined) return
  forget(state, leaseId)
  retire(state, id, sessionEnded)
}

/** Takes back all that an actor which is gone had asked for. */
export function releaseOwner(state: PoolState, address: string): void {
  for (const leaseId of state.owners.leasesOf(address)) {
    const waiting = state.queue.get(leaseId)
    if (waiting !== undefined) refuse(state, waiting, ownerGone(address))
    else release(state, leaseId, false)
  }
}

/** Hands ready sandboxes to the requests at the front whose deadline has not passed. A `hit` was there before its request came. */
export function serve(state: PoolState, hit: boolean): void {
  const { ledger, queue, leases, ports } = state
  if (queue.size === 0 || ledger.count('ready') === 0) return
  for (let request = queue.front(); request !== undefined; request = queue.front()) {
    if (request.deadlineAt <= ports.now()) {
      refuse(state, request, timeout(state, request))
      continue
    }
    const id = ledger.oldest('ready')
    const sandbox = id === undefined ? undefined : ledger.get(id)
    if (id === undefined || sandbox?.type !== 'ready') return
    const kind = hit ? 'hit' : sandbox.at.origin
    withdraw(state, request)
    if (!ports.grant(request, id, sandbox.at, kind)) {
      forget(state, request.leaseId)
      continue
    }
    ledger.move(id, { type: 'leased', leaseId: request.leaseId })
    leases.set(request.leaseId, id)
    state.granted[kind] += 1
  }
}

/** Hands a sandbox to the one request that it was made for, and to nobody else. */
export function handOver(state: PoolState, id: SandboxId, at: Reachable, request: LeaseRequest): void {
  const { ledger, leases, ports } = state
  ledger.move(id, { type: 'ready', at })
  request.creating = undefined
  const isLate = request.deadlineAt <= ports.now()
  if (isLate) refuse(state, request, timeout(state, request))
  else withdraw(state, request)
  if (isLate || !ports.grant(request, id, at, at.origin)) {
    forget(state, request.leaseId)
    retire(state, id, false)
    return
  }
  ledger.move(id, { type: 'leased', leaseId: request.leaseId })
  leases.set(request.leaseId, id)
  state.granted[at.origin] += 1
}

export function refuseLate(state: PoolState): void {
  const { ports, queue } = state
  for (const request of queue.expire(ports.now())) refuse(state, request, timeout(state, request))
}

/** Refuses what can no longer be served: all without a create under way while none may be sent. */
export function refuseHopeless(state: PoolState): void {
  const { breaker, config, ledger, ports, queue, unserved } = state
  if (breaker.type === 'open' && ports.now() < breaker.until)
    for (const request of unserved.all())
      refuse(state, request, breakerOpen(config.runtime, breaker.failures, breaker.until - ports.now(), breaker.error))
  if (ledger.count('quarantined') >= config.maxSandboxes)
    for (const request of queue.all()) refuse(state, request, poolExhausted(config.maxSandboxes))
}

export function refuse(state: PoolState, request: LeaseRequest, error: ErrorData): void {
  withdraw(state, request)
  forget(state, request.leaseId)
  state.ports.refuse(request, error)
}

/** The sandbox `id`, which nobody has yet, is meant for `request` from now on. */
export function assign(state: PoolState, id: SandboxId, request: LeaseRequest): void {
  const { ledger, unserved } = state
  const sandbox = ledger.get(id)
  if (sandbox?.type === 'creating' || sandbox?.type === 'stocking')
    ledger.move(id, { type: 'creating', since: sandbox.since, request })
  else if (sandbox?.type === 'owed' || sandbox?.type === 'forking')
    ledger.move(id, { type: 'owed', at: sandbox.at, request })
  else return
  request.creating = id
  unserved.delete(request.leaseId)
}

/** The request is without a create again. */
export function unassign(state: PoolState, request: LeaseRequest): void {
  request.creating = undefined
  state.unserved.add(request, state.ports.now())
}

/** Counts the request and puts it at the end of the queue, or says why not. */
function admit(state: PoolState, request: LeaseRequest): ErrorData | undefined {
  const { config, leases, meter, ports, queue } = state
  if (state.draining) return draining()
  if (leases.has(request.leaseId) || queue.get(request.leaseId) !== undefined) return leaseRepeated(request.leaseId)
  if (request.isExtra !== true) state.remaining = Math.max(0, state.remaining - 1)
  // What is made for one request alone says nothing of how many should be ready for any.
  if (request.kind === undefined) meter.arrived(ports.now())
  if (!queue.push(request)) return queueFull(config.maxWaiting)
  notePeak(state)
  return undefined
}

/** How many leases the job will still ask for. */
export function expect(state: PoolState, remaining: number): void {
  state.remaining = remaining
  notePeak(state)
}

function notePeak(state: PoolState): void {
  state.peakDemand = Math.max(state.peakDemand, state.remaining + state.queue.size)
}

/** Takes a request out of the queue; the sandbox that was being made for it serves the next one, or is stock. */
function withdraw(state: PoolState, request: LeaseRequest): void {
  const { ledger, ports, queue, unserved } = state
  queue.remove(request.leaseId)
  unserved.delete(request.leaseId)
  if (request.creating === undefined) return
  const sandbox = ledger.get(request.creating)
  const next = unserved.any()
  if (request.kind !== undefined) {
    if (sandbox?.type === 'creating') {
      ledger.move(request.creating, { type: 'cancelling' })
      ports.cancel(request.creating)
    }
  } else if (sandbox?.type === 'creating' || sandbox?.type === 'owed') {
    if (next !== undefined) assign(state, request.creating, next)
    else if (sandbox.type === 'creating') ledger.move(request.creating, { type: 'stocking', since: sandbox.since })
    else ledger.move(request.creating, { type: 'forking', at: sandbox.at })
  }
  request.creating = undefined
}

function forget(state: PoolState, leaseId: LeaseId): void {
  state.leases.delete(leaseId)
  const owner = state.owners.remove(leaseId)
  if (owner !== undefined) state.ports.unwatch(owner)
}

function timeout({ ports }: PoolState, request: LeaseRequest): ErrorData {
  return leaseTimeout(request.leaseId, ports.now() - request.arrivedAt, request.lastError)
}
