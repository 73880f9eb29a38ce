import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import { fill, grow, nextCreateAt, trim } from './creates.ts'
import { retire } from './deletes.ts'
import { draining } from './errors.ts'
import { discard } from './forks.ts'
import type { PoolState } from './pool-state.ts'
import { dropProviderPool, tendProviderPool } from './provider-pool.ts'
import { refuse, refuseHopeless, refuseLate, release, serve } from './requests.ts'

/**
 * Brings the pool to rest after an event, and returns the time of the next one that only the clock brings (Infinity if none): a
 * deadline, a retry, a token, the end of a cool-down, a count.
 */
export function settle(state: PoolState): number {
  const countAt = tendProviderPool(state)
  refuseLate(state)
  grow(state)
  serve(state, false)
  refuseHopeless(state)
  trim(state)
  fill(state)
  return Math.min(state.queue.wakeAt, nextCreateAt(state), countAt)
}

/** Refuses what waits, calls off what is being made, disposes of all the rest, and lets go of the provider's pool. */
export function drain(state: PoolState): void {
  const { leases, ledger, queue } = state
  state.draining = true
  dropProviderPool(state)
  for (const request of queue.all()) refuse(state, request, draining())
  for (const type of ['stocking', 'rooting', 'forking', 'ready', 'root'] as const)
    for (const id of [...ledger.ids(type)]) discard(state, id)
  // What would not die before gets one more round of attempts.
  for (const id of [...ledger.ids('quarantined')]) retire(state, id, false)
  for (const leaseId of [...leases.keys()]) release(state, leaseId, false)
}

/** What a drain could not get rid of. */
export interface Drained {
  /** Sandboxes that would not go. */
  readonly quarantined: readonly SandboxId[]
  /** Why the provider's own pool may still exist. */
  readonly providerPool?: ErrorData
}

/** What is left, once nothing else is; undefined before. */
export function drained({ draining, ledger, providerPool }: PoolState): Drained | undefined {
  if (!draining || ledger.size > ledger.count('quarantined') || providerPool.type === 'dropping') return undefined
  const quarantined = [...ledger.ids('quarantined')]
  return providerPool.type === 'left' ? { quarantined, providerPool: providerPool.error } : { quarantined }
}
