import type { ErrorData } from '../errors.ts'
import type { Settled } from '../kernel/actor.ts'
import { providerPoolLeft, providerPoolRefused } from './errors.ts'
import type { PoolState } from './pool-state.ts'

/** The provider's own warm pool, as far as it is ours. Times are the clock's milliseconds. */
export type ProviderPoolState =
  /** Sandboxes come from elsewhere. */
  | { readonly type: 'unused' }
  /** Wanted, once anything is asked for. */
  | { readonly type: 'unasked'; readonly size: number }
  | { readonly type: 'asked'; readonly target: number }
  | { readonly type: 'held'; readonly target: number; readonly count: Count | undefined; readonly nextCountAt: number }
  | { readonly type: 'refused'; readonly error: ErrorData }
  | { readonly type: 'dropping' }
  | { readonly type: 'dropped' }
  /** Could not be let go of: its sandboxes may still exist and cost money. */
  | { readonly type: 'left'; readonly error: ErrorData }

interface Count {
  readonly ready: number
  readonly at: number
}

/** From the end of one count to the next. */
const COUNT_EVERY_MS = 2_000

/** Has the provider hold its pool at the first demand, no larger than that, and counts what is in it. Returns when it is to be called again. */
export function tendProviderPool(state: PoolState): number {
  const { providerPool, ports, draining, remaining, queue } = state
  if (draining) return Number.POSITIVE_INFINITY
  if (providerPool.type === 'unasked') {
    const target = Math.min(providerPool.size, remaining + queue.size)
    if (target === 0) return Number.POSITIVE_INFINITY
    state.providerPool = { type: 'asked', target }
    ports.holdPool(target)
  }
  if (providerPool.type !== 'held') return Number.POSITIVE_INFINITY
  if (providerPool.nextCountAt > ports.now()) return providerPool.nextCountAt
  // Until its answer is there, no other count is due.
  state.providerPool = { ...providerPool, nextCountAt: Number.POSITIVE_INFINITY }
  ports.countPool()
  return Number.POSITIVE_INFINITY
}

/** Where the provider refuses, creates go on without. */
export function poolHeld(state: PoolState, settled: Settled<void>): void {
  const { config, providerPool, ports } = state
  if (providerPool.type !== 'asked') return
  if (settled.ok) {
    const { target } = providerPool
    state.providerPool = { type: 'held', target, count: undefined, nextCountAt: ports.now() }
    return
  }
  const error = providerPoolRefused(config.runtime, providerPool.target, settled.error)
  state.providerPool = { type: 'refused', error }
  ports.report(error)
}

/** A count that failed leaves the old figure, which tells its age. */
export function poolCounted(state: PoolState, settled: Settled<number>): void {
  const { providerPool, ports } = state
  if (providerPool.type !== 'held') return
  const now = ports.now()
  const count = settled.ok ? { ready: settled.value, at: now } : providerPool.count
  state.providerPool = { ...providerPool, count, nextCountAt: now + COUNT_EVERY_MS }
}

/** Lets go of it. The port waits for a hold that is under way. */
export function dropProviderPool(state: PoolState): void {
  const { providerPool, ports } = state
  if (providerPool.type === 'unasked') state.providerPool = { type: 'dropped' }
  if (providerPool.type !== 'asked' && providerPool.type !== 'held' && providerPool.type !== 'left') return
  state.providerPool = { type: 'dropping' }
  ports.dropPool()
}

export function poolDropped(state: PoolState, settled: Settled<void>): void {
  if (state.providerPool.type !== 'dropping') return
  if (settled.ok) {
    state.providerPool = { type: 'dropped' }
    return
  }
  const error = providerPoolLeft(state.config.runtime, settled.error)
  state.providerPool = { type: 'left', error }
  state.ports.report(error)
}
