import type { SandboxListItem, WarmPool } from '@daytona/api-client'
import { anchorsOf, isAnchor, readAnchor } from '../provider-pool/index.ts'
import { toBase } from '../snapshot/index.ts'
import type { Judge } from './judge.ts'
import type { Leftover } from './leftover.ts'
import { toLeftover, toPoolLeftover } from './to-leftover.ts'

export interface PoolsToJudge {
  readonly pools: readonly WarmPool[]
  readonly sandboxes: readonly SandboxListItem[]
  readonly judge: Judge
  readonly isOld: (leftover: Pick<Leftover, 'createdAt'>) => boolean
  readonly ownerless: boolean
  readonly now: number
}

/** A pool is made after its anchor and dropped before it, so that a younger one without an anchor is not what was left of ours. */
const OWNERLESS_MS = 60 * 60_000

/**
 * Pools have no labels: an anchor says whose one is, for a week after its owner's end. A pool is left over when it has anchors and the owners of all of them
 * are dead; or, if `ownerless` asks, when it has none, is an hour old, and its snapshot was built here.
 */
export function findPools({ pools, sandboxes, judge, isOld, ownerless, now }: PoolsToJudge): readonly Leftover[] {
  const anchors = sandboxes.filter(isAnchor)
  const members = sandboxes.filter(({ warmPoolId }) => (warmPoolId ?? '') !== '')
  const left = pools.flatMap(pool => {
    const own = anchorsOf(pool, anchors)
    const standing = own.length === 0 ? judgeOwnerless(pool.snapshot, pool.createdAt) : judgeAll(own)
    if (standing === undefined) return []
    const found = toPoolLeftover(pool, own[0]?.labels ?? {}, standing)
    return isOld(found) ? [{ found, standing }] : []
  })
  const leftIds = new Map(left.map(({ found, standing }) => [found.id, standing]))
  const kept = new Set(pools.map(({ id }) => id).filter(id => !leftIds.has(id)))

  function judgeAll(own: readonly SandboxListItem[]): Leftover['standing'] | undefined {
    const standings = own.map(anchor => judge(anchor, true))
    return standings.includes(undefined) ? undefined : standings[0]
  }

  function judgeOwnerless(snapshot: string, createdAt: string | undefined): Leftover['standing'] | undefined {
    const isOurs = ownerless && toBase(snapshot) !== undefined && now - Date.parse(createdAt ?? '') > OWNERLESS_MS
    return isOurs ? 'none' : undefined
  }

  /** Of a pool that is left over, or that is gone while its anchor, or its snapshot's name, still says that it was ours. */
  function ofMember(member: SandboxListItem): readonly Leftover[] {
    const pool = member.warmPoolId ?? ''
    if (kept.has(pool)) return []
    const own = anchors.filter(anchor => readAnchor(anchor).poolId === pool)
    const orphaned = own.length === 0 ? judgeOwnerless(member.snapshot ?? '', member.createdAt) : judgeAll(own)
    const standing = leftIds.get(pool) ?? orphaned
    return standing === undefined ? [] : [toLeftover('pool-member', member, standing, pool)]
  }

  /** One that names a pool which stays, and is adopted by somebody else, may go; one without which nothing says whose a pool is, may not. */
  function ofAnchor(anchor: SandboxListItem): readonly Leftover[] {
    const standing = judge(anchor, true)
    if (standing === undefined) return []
    const pool = pools.find(each => anchorsOf(each, [anchor]).length > 0)
    const isNeeded = pool !== undefined && kept.has(pool.id) && judgeAll(anchorsOf(pool, anchors)) !== undefined
    const found = toLeftover('pool-anchor', anchor, standing, pool?.id ?? readAnchor(anchor).poolId)
    return isNeeded || (pool === undefined && !isOld(found)) ? [] : [found]
  }

  return [...left.map(({ found }) => found), ...members.flatMap(ofMember), ...anchors.flatMap(ofAnchor)]
}
