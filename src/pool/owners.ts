import type { LeaseId } from '../ids.ts'
import type { Ref } from '../kernel/ref.ts'
import type { LeaseLost } from './lease-queue.ts'

/** Who asked for which leases, waiting or given out: what has to be taken back when an owner is gone. */
export interface Owners {
  /** True for the owner's first lease: it is to be watched from now on. */
  add(leaseId: LeaseId, owner: Ref<LeaseLost>): boolean
  /** The owner, if that was its last lease: it need not be watched any more. */
  remove(leaseId: LeaseId): Ref<LeaseLost> | undefined
  ownerOf(leaseId: LeaseId): Ref<LeaseLost> | undefined
  leasesOf(address: string): readonly LeaseId[]
}

export function makeOwners(): Owners {
  const owners = new Map<LeaseId, Ref<LeaseLost>>()
  const leases = new Map<string, Set<LeaseId>>()
  return {
    add(leaseId, owner) {
      owners.set(leaseId, owner)
      const known = leases.get(owner.address)
      if (known === undefined) leases.set(owner.address, new Set([leaseId]))
      else known.add(leaseId)
      return known === undefined
    },
    remove(leaseId) {
      const owner = owners.get(leaseId)
      if (owner === undefined) return undefined
      owners.delete(leaseId)
      const known = leases.get(owner.address)
      known?.delete(leaseId)
      if (known !== undefined && known.size > 0) return undefined
      leases.delete(owner.address)
      return owner
    },
    ownerOf: leaseId => owners.get(leaseId),
    leasesOf: address => [...(leases.get(address) ?? [])],
  }
}
