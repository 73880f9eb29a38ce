import type { LeaseId } from '../ids.ts'
import type { Ref } from '../kernel/ref.ts'

/** Who asked for which leases, waiting or given out: what has to be taken back when an owner is gone. */
export interface Owners {
  /** True for the owner's first lease: it is to be watched from now on. */
  add(leaseId: LeaseId, owner: Ref<never>): boolean
  /** The owner, if that was its last lease: it need not be watched any more. */
  remove(leaseId: LeaseId): Ref<never> | undefined
  leasesOf(address: string): readonly LeaseId[]
}

export function makeOwners(): Owners {
  const ownerOf = new Map<LeaseId, Ref<never>>()
  const leases = new Map<string, Set<LeaseId>>()
  return {
    add(leaseId, owner) {
      ownerOf.set(leaseId, owner)
      const known = leases.get(owner.address)
      if (known === undefined) leases.set(owner.address, new Set([leaseId]))
      else known.add(leaseId)
      return known === undefined
    },
    remove(leaseId) {
      const owner = ownerOf.get(leaseId)
      if (owner === undefined) return undefined
      ownerOf.delete(leaseId)
      const known = leases.get(owner.address)
      known?.delete(leaseId)
      if (known !== undefined && known.size > 0) return undefined
      leases.delete(owner.address)
      return owner
    },
    leasesOf: address => [...(leases.get(address) ?? [])],
  }
}
