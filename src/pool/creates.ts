import { type SandboxId, toSandboxId } from '../ids.ts'
import { afterStart, mayCreate } from './breaker.ts'
import { discard, freeParent, missingRoots, nothingToFork, shelfParentForStock, wantedRoots } from './forks.ts'
import type { LeaseRequest } from './lease-queue.ts'
import type { PoolState } from './pool-state.ts'
import { assign } from './requests.ts'
import { boundStock, type Stock } from './sizing.ts'

/** What the pool wants to hold ready now. */
export function stock(state: PoolState): Stock {
  const { config, draining, meter, remaining } = state
  if (config.strategy === 'cold' || draining) return { target: 0, most: 0 }
  // Before anything is measured, `auto` prepares for one batch as wide as the pool may be.
  const wished = config.size === 'auto' ? (meter.wished() ?? config.maxSandboxes - wantedRoots(state)) : config.size
  return boundStock(wished, remaining)
}

/** Disposes of what is ready, and calls off what is being made, beyond what is wanted. */
export function trim(state: PoolState): void {
  const { ledger } = state
  let surplus = ledger.count('ready') + ledger.count('forking') + ledger.count('stocking') - stock(state).most
  for (; surplus > 0; surplus -= 1) {
    const id = ledger.oldest('stocking') ?? ledger.oldest('ready') ?? ledger.oldest('forking')
    if (id !== undefined) discard(state, id)
  }
}

/**
 * Has sandboxes bear forks that would otherwise be handed out at once, while more requests wait for a create than that would serve and than forks are
 * in flight, each of which soon frees a parent. Against handing out at once it ends a batch of 128 a tenth to a fifth sooner, for all of it; against
 * holding back any earlier it does not make single requests wait for each other.
 */
export function grow(state: PoolState): void {
  const { ledger, ports, tree, unserved } = state
  if (state.draining || !forks(state)) return
  const now = ports.now()
  for (;;) {
    const parent = freeParent(state) ?? ledger.oldest('ready')
    const shelf = ledger.count('ready')
    if (parent === undefined || shelf === 0 || unserved.size - unserved.ownSize - shelf <= tree.inFlight) return
    const request = unserved.due(now)
    if (request === undefined || !admit(state, now)) return
    create(state, request, parent)
    // What was on the shelf is for one who waits, when its fork is over.
    const next = unserved.any()
    if (ledger.get(parent)?.type === 'forking' && next !== undefined) assign(state, parent, next)
  }
}

/**
 * Sends creates, first for the parents that forks come from, then for the requests that wait, then ahead of demand, as far as cap, wave, breaker and
 * bucket allow.
 */
export function fill(state: PoolState): void {
  const { ports, unserved } = state
  if (state.draining) return
  const now = ports.now()
  const mayPrepare = now >= state.stockRetryAt
  for (let missing = mayPrepare ? missingRoots(state) : 0; missing > 0 && admit(state, now); missing -= 1)
    create(state, 'root', 'new')
  makeRoom(state)
  for (let next = nextServable(state, now); next !== undefined; next = nextServable(state, now)) {
    if (!admit(state, now)) return
    create(state, next.request, next.way)
  }
  // One that waits for a parent will have it before anything is made ahead.
  if (unserved.due(now) !== undefined) return
  for (let missing = mayPrepare ? missingStock(state) : 0; missing > 0; missing -= 1) {
    const way = wayForStock(state, missing)
    if (way === undefined || !admit(state, now)) return
    create(state, 'stock', way)
  }
}

/** The earliest time at which something becomes possible that is not possible now. Infinity when only an event can. */
export function nextCreateAt(state: PoolState): number {
  const { breaker, bucket, config, ledger, ports, unserved } = state
  const now = ports.now()
  if (state.draining || ledger.size >= config.maxSandboxes || inFlight(state) >= config.wave)
    return Number.POSITIVE_INFINITY
  const missing = missingStock(state)
  const ahead = missingRoots(state) > 0 || (missing > 0 && wayForStock(state, missing) !== undefined)
  let wanted = ahead ? state.stockRetryAt : Number.POSITIVE_INFINITY
  const due = unserved.due(now)
  // One that waits for a parent is served by an event: the end of a fork, or of a create.
  const isServable = due === undefined || wayForRequest(state, due) !== undefined
  wanted = Math.min(wanted, isServable ? unserved.nextAt() : unserved.ownNextAt())
  if (wanted === Number.POSITIVE_INFINITY || breaker.type === 'probing') return Number.POSITIVE_INFINITY
  return Math.max(wanted, bucket.nextAt(now), breaker.type === 'open' ? breaker.until : now)
}

/** Whoever has waited longest of those for whom a create can be sent now; that one needs a sandbox of its own gives it neither more nor less. */
function nextServable(
  state: PoolState,
  now: number,
): { readonly request: LeaseRequest; readonly way: SandboxId | 'new' } | undefined {
  const request = state.unserved.due(now)
  const own = state.unserved.ownDue(now)
  const way = request === undefined ? undefined : wayForRequest(state, request)
  if (request === undefined || way === undefined || (own !== undefined && own.arrivedAt < request.arrivedAt))
    return own === undefined ? undefined : { request: own, way: 'new' }
  return { request, way }
}

/** Where all that may exist does, what is ready for any request makes way for those that it will not do for. */
function makeRoom(state: PoolState): void {
  const { config, ledger, unserved } = state
  if (unserved.ownSize === 0 || ledger.size < config.maxSandboxes) return
  const leaving = ledger.count('deleting') + ledger.count('cancelling') + ledger.count('leaving')
  for (let missing = unserved.ownSize - leaving; missing > 0; missing -= 1) {
    const id = ledger.oldest('stocking') ?? ledger.oldest('ready') ?? ledger.oldest('forking')
    if (id === undefined) return
    discard(state, id)
  }
}

/** How a sandbox is to be made: a fork of that one, or from nothing. Undefined: not now, a parent will soon be free. */
type Way = SandboxId | 'new' | undefined

function wayForRequest(state: PoolState, request: LeaseRequest): Way {
  const { config } = state
  if (!forks(state) || request.kind !== undefined) return 'new'
  // The last attempt is a plain create, in case it is the forks that fail.
  if (request.failures > 0 && request.failures >= config.createRetries) return 'new'
  return freeParent(state) ?? seed(state)
}

function wayForStock(state: PoolState, missing: number): Way {
  if (!forks(state)) return 'new'
  return freeParent(state) ?? shelfParentForStock(state, missing) ?? seed(state)
}

/** Where all that may exist is one sandbox, there is nothing to fork it from. */
const forks = (state: PoolState): boolean => state.source.type === 'fork' && wantedRoots(state) > 0

/** Beside the parents to be, as many creates at once as do not yet slow each other. */
const seed = (state: PoolState): Way =>
  nothingToFork(state) && inFlight(state) - state.ledger.count('rooting') < state.config.seeds ? 'new' : undefined

/** How many may be created ahead of demand. A request whose retry is waiting is entitled to room before stock is. */
function missingStock(state: PoolState): number {
  const { config, ledger, unserved } = state
  const missing = stock(state).target - ledger.count('ready') - ledger.count('forking') - ledger.count('stocking')
  return Math.min(missing, config.maxSandboxes - ledger.size - unserved.size - Math.max(0, missingRoots(state)))
}

/** Creates that have not ended. */
export function inFlight({ ledger }: PoolState): number {
  return ledger.count('rooting') + ledger.count('creating') + ledger.count('stocking') + ledger.count('cancelling')
}

function admit(state: PoolState, now: number): boolean {
  const { breaker, bucket, config, ledger } = state
  return (
    ledger.size < config.maxSandboxes && inFlight(state) < config.wave && mayCreate(breaker, now) && bucket.take(now)
  )
}

function create(state: PoolState, whom: LeaseRequest | 'root' | 'stock', way: SandboxId | 'new'): void {
  const { config, ledger, ports, tree } = state
  const id = toSandboxId(`${config.idPrefix}-${ledger.created}`)
  const since = ports.now()
  state.breaker = afterStart(state.breaker)
  ledger.open(id, whom === 'root' ? { type: 'rooting', since } : { type: 'stocking', since })
  if (whom !== 'root' && whom !== 'stock') assign(state, id, whom)
  if (way !== 'new') {
    const parent = ledger.get(way)
    if (parent?.type === 'ready') ledger.move(way, { type: 'forking', at: parent.at })
    tree.begin(way, id)
  }
  const purpose =
    whom === 'root' || whom === 'stock'
      ? { prewarm: whom === 'stock' }
      : { prewarm: false, task: whom.task, runId: whom.runId }
  ports.provision({ id, ...purpose, ...(way === 'new' ? {} : { parent: way }) })
}
