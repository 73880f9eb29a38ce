import type { SandboxListItem, WarmPool } from '@daytona/api-client'
import { ANCHOR_LABEL } from './labels.ts'

/** Where a pool is: a provider has one for each snapshot and region. */
export interface Place {
  readonly snapshot: string
  readonly region: string
}

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
  return anchors.filter(anchor => {
    const named = anchor.labels[ANCHOR_LABEL.pool]
    if (named !== undefined) return named === pool.id
    // Both by the provider's clock. An anchor that was claimed from the pool is younger than it.
    const afterMs = Date.parse(pool.createdAt) - Date.parse(anchor.createdAt ?? '')
    return isAt(anchor, { snapshot: pool.snapshot, region: pool.target }) && afterMs >= 0 && afterMs < SOON_MS
  })
}

export const isAt = ({ snapshot, target }: Pick<SandboxListItem, 'snapshot' | 'target'>, place: Place): boolean =>
  snapshot === place.snapshot && target === place.region

/**
 * Of several that are alive and want the same pool, whether `theirs` goes before `ours`: whoever holds it by name, then whoever came first, then
 * the lesser id, so that each of them comes to the same answer.
 */
export function goesBefore(theirs: SandboxListItem, ours: { readonly id: string; readonly since: number }): boolean {
  if (theirs.labels[ANCHOR_LABEL.pool] !== undefined) return true
  const since = Number(theirs.labels[ANCHOR_LABEL.since] ?? 0)
  return since === ours.since ? theirs.id < ours.id : since < ours.since
}
