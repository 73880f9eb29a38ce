import type { PoolStats } from '../../pool/stats.ts'
import type { PoolBooks } from './ladder-client.ts'

/** Nothing that was asked for is left, and nothing is on its way in or out. */
export const isAtRest = ({ leased, deleting, creating, waiting }: PoolStats): boolean =>
  leased + deleting + creating + waiting === 0

export function toBooks(stats: PoolStats): PoolBooks {
  const { created, createFailures, gone, ready, creating, leased, deleting, parents, providerPool } = stats
  return {
    created,
    createFailures,
    owned: created - gone,
    now: {
      ready,
      creating,
      leased,
      deleting,
      parents: parents.kept,
      ...(providerPool?.ready === undefined ? {} : { providerReady: providerPool.ready }),
    },
  }
}
