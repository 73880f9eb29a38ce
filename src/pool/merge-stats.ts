import type { LeaseKind } from '../runtimes/runtime.ts'
import type { PoolStats } from './stats.ts'

/** The figures of several pools as one: counts add up, and of what has no sum the first that says something counts. */
export function mergeStats(all: readonly PoolStats[], none: Pick<PoolStats, 'strategy' | 'source'>): PoolStats {
  const sum = (count: (stats: PoolStats) => number) => all.reduce((total, stats) => total + count(stats), 0)
  const leases = (kind: LeaseKind) => sum(stats => stats.leases[kind])
  const sourceError = all.find(stats => stats.sourceError !== undefined)?.sourceError
  return {
    strategy: all[0]?.strategy ?? none.strategy,
    source: all[0]?.source ?? none.source,
    ...(sourceError === undefined ? {} : { sourceError }),
    target: sum(stats => stats.target),
    creating: sum(stats => stats.creating),
    ready: sum(stats => stats.ready),
    leased: sum(stats => stats.leased),
    deleting: sum(stats => stats.deleting),
    quarantined: sum(stats => stats.quarantined),
    parents: { kept: sum(({ parents }) => parents.kept), forking: sum(({ parents }) => parents.forking) },
    waiting: sum(stats => stats.waiting),
    created: sum(stats => stats.created),
    gone: sum(stats => stats.gone),
    createFailures: sum(stats => stats.createFailures),
    leases: { hit: leases('hit'), cold: leases('cold'), claim: leases('claim'), fork: leases('fork') },
    breaker: all.find(({ breaker }) => breaker !== undefined)?.breaker,
  }
}
