import type { PoolStats } from '../pool/stats.ts'
import { oneLine } from './units.ts'

const KINDS = [
  ['hit', 'hit'],
  ['cold', 'cold'],
  ['claim', 'claimed'],
  ['fork', 'forked'],
] as const
const WHY_WIDTH = 80

/** What a line of progress says of the pool, in parts; what is nothing is left out. */
export function describePool(pool: PoolStats): string[] {
  const { leases, parents, providerPool, sourceError } = pool
  const given = KINDS.flatMap(([kind, word]) => (leases[kind] === 0 ? [] : [`${leases[kind]} ${word}`]))
  return [
    pool.strategy === 'prewarm'
      ? `pool ${pool.ready}/${pool.target} ready ${pool.leased} leased`
      : `sandboxes ${pool.ready} ready ${pool.leased} leased`,
    ...(parents.kept + parents.forking === 0 ? [] : [`${parents.kept} parents ${parents.forking} forking`]),
    ...(providerPool === undefined ? [] : [`provider pool ${providerPool.ready ?? '–'}/${providerPool.target}`]),
    ...(given.length === 0 ? [] : [`leases ${given.join(' ')}`]),
    ...(sourceError === undefined ? [] : [`source ${pool.source}: ${oneLine(sourceError.message, WHY_WIDTH)}`]),
    ...(pool.breaker === undefined ? [] : [`pool stopped: ${pool.breaker.message}`]),
  ]
}

const SOURCES = { create: 'created anew', 'provider-pool': "from the provider's pool", fork: 'forked' } as const

/** The pool's books at the end: what was made and how, and what is not known to be gone. */
export function renderPool(pool: PoolStats): string {
  const { providerPool, sourceError } = pool
  return [
    [
      `sandboxes: ${pool.created} made, ${SOURCES[pool.source]}`,
      `${pool.createFailures} creates failed`,
      `${pool.quarantined} will not die`,
      ...(providerPool === undefined ? [] : [`provider pool ${providerPool.ready ?? '–'}/${providerPool.target}`]),
    ].join(', '),
    ...(sourceError === undefined ? [] : [`not from where they were asked for: ${sourceError.message}`]),
  ].join('\n')
}
