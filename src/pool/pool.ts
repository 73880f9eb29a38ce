import type { SandboxId } from '../ids.ts'
import { fill, nextCreateAt, trim } from './creates.ts'
import { retire } from './deletes.ts'
import { draining } from './errors.ts'
import type { PoolState } from './pool-state.ts'
import { refuse, refuseHopeless, release, serve } from './requests.ts'

/**
 * Brings the pool to rest after an event, and returns the time of the next one that only the clock brings (Infinity if none): a
 * deadline, a retry, a token, the end of a cool-down.
 */
export function settle(state: PoolState): number {
  serve(state, 'cold')
  refuseHopeless(state)
  trim(state)
  fill(state)
  return Math.min(state.queue.wakeAt, nextCreateAt(state))
}

/** Refuses what waits, calls off what is being made and disposes of all the rest. */
export function drain(state: PoolState): void {
  const { leases, ledger, ports, queue } = state
  state.draining = true
  for (const request of queue.all()) refuse(state, request, draining())
  for (const id of [...ledger.ids('stocking')]) {
    ledger.move(id, { type: 'cancelling' })
    ports.cancel(id)
  }
  // What would not die before gets one more round of attempts.
  for (const id of [...ledger.ids('ready'), ...ledger.ids('quarantined')]) retire(state, id, false)
  for (const leaseId of [...leases.keys()]) release(state, leaseId, false)
}

/** The ids that would not go, once nothing else is left; undefined before. */
export function drained({ draining, ledger }: PoolState): { readonly quarantined: readonly SandboxId[] } | undefined {
  return draining && ledger.size === ledger.count('quarantined')
    ? { quarantined: [...ledger.ids('quarantined')] }
    : undefined
}
