import type { SandboxListItem, WarmPool } from '@daytona/api-client'
import type { SandboxFilter } from '../account/list-sandboxes.ts'
import { readAnchor } from './anchor-labels.ts'

/** Where a pool is: a provider has one for each snapshot and region. */
export interface Place {
  readonly snapshot: string
  readonly region: string
}

export const toText = ({ snapshot, region }: Place): string => `${snapshot} in ${region}`

/** The sandboxes there, members of the pool or not. */
export const toFilter = ({ snapshot, region }: Place): SandboxFilter => ({ snapshots: [snapshot], region })

/** Between the create of an anchor and that of its pool lie a few calls. */
const SOON_MS = 10 * 60_000

/**
 * The anchors that say whose a pool is: those that name it, and those that name none where the pool was made soon after them in their place, by a hold that
 * did not come further. None: the pool was made by hand, or its anchor has outlived its time.
 */
export function anchorsOf(
  pool: Pick<WarmPool, 'id' | 'snapshot' | 'target' | 'createdAt'>,
  anchors: readonly SandboxListItem[],
): readonly SandboxListItem[] {
  const place = { snapshot: pool.snapshot, region: pool.target }
  return anchors.filter(anchor => {
    const { poolId } = readAnchor(anchor)
    if (poolId !== undefined) return poolId === pool.id
    // Both by the provider's clock. An anchor that was claimed from the pool is younger than it.
    const afterMs = Date.parse(pool.createdAt) - Date.parse(anchor.createdAt ?? '')
    return isAt(anchor, place) && afterMs >= 0 && afterMs < SOON_MS
  })
}

export const isAt = ({ snapshot, target }: Partial<Pick<WarmPool, 'snapshot' | 'target'>>, place: Place): boolean =>
  snapshot === place.snapshot && target === place.region

/**
 * Of several that are alive and want the same pool, whether `theirs` goes before `ours`: whoever holds it by name, then whoever came first, then
 * the lesser id, so that each of them comes to the same answer.
 */
export function goesBefore(theirs: SandboxListItem, ours: { readonly id: string; readonly since: number }): boolean {
  const { poolId, since } = readAnchor(theirs)
  if (poolId !== undefined) return true
  return since === ours.since ? theirs.id < ours.id : since < ours.since
}
