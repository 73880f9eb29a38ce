import type { ErrorData } from '../errors.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import { stock } from './creates.ts'
import type { PoolState } from './pool-state.ts'
import type { SourcePlan } from './source.ts'

/** Figures from real sandboxes; nothing here but the targets is a wish. */
export interface PoolStats {
  readonly strategy: 'cold' | 'prewarm'
  /** Where sandboxes come from now, whatever was asked for. */
  readonly source: SourcePlan['type']
  /** Why they do not come from where was asked for. */
  readonly sourceError?: ErrorData
  /** Prewarmed sandboxes that the pool tries to hold ready now; 0 when cold. */
  readonly target: number
  readonly creating: number
  readonly ready: number
  readonly leased: number
  readonly deleting: number
  readonly quarantined: number
  /** `kept`: sandboxes that are there to be forked and are never leased. `forking`: forks in flight, of these and of others. */
  readonly parents: { readonly kept: number; readonly forking: number }
  /**
   * What the provider itself is asked to hold, and what was really there and unclaimed when it was last counted. These are not among the pool's
   * own. Absent unless it is held.
   */
  readonly providerPool?: {
    readonly target: number
    readonly ready: number | undefined
    readonly countedMsAgo: number | undefined
  }
  /** Requests that wait. */
  readonly waiting: number
  /** Sandboxes ever owned, and those confirmed gone: created = gone + creating + ready + parents.kept + leased + deleting + quarantined. */
  readonly created: number
  readonly gone: number
  readonly createFailures: number
  readonly leases: Readonly<Record<LeaseKind, number>>
  /** Why the pool gives nothing out, when its breaker is open. */
  readonly breaker: ErrorData | undefined
}

/** Throws `sandbox-ledger-broken` when the pool's books do not balance. */
export function toStats(pool: PoolState): PoolStats {
  const { ledger, breaker, config, providerPool, tree } = pool
  ledger.check()
  const sourceError = providerPool.type === 'refused' ? providerPool.error : pool.source.why
  return {
    strategy: config.strategy,
    source: pool.source.type === 'provider-pool' && providerPool.type !== 'held' ? 'create' : pool.source.type,
    ...(sourceError === undefined ? {} : { sourceError }),
    target: stock(pool).target,
    creating: ledger.count('rooting') + ledger.count('creating') + ledger.count('stocking'),
    ready: ledger.count('ready') + ledger.count('forking') + ledger.count('owed'),
    leased: ledger.count('leased'),
    deleting: ledger.count('deleting') + ledger.count('cancelling') + ledger.count('leaving'),
    quarantined: ledger.count('quarantined'),
    parents: { kept: ledger.count('root'), forking: tree.inFlight },
    ...(providerPool.type !== 'held'
      ? {}
      : {
          providerPool: {
            target: providerPool.target,
            ready: providerPool.count?.ready,
            countedMsAgo: providerPool.count && pool.ports.now() - providerPool.count.at,
          },
        }),
    waiting: pool.queue.size,
    created: ledger.created,
    gone: ledger.gone,
    createFailures: pool.createFailures,
    leases: { ...pool.granted },
    breaker: breaker.type === 'closed' ? undefined : breaker.error,
  }
}
