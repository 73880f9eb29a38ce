import { hasTag } from '../../../errors.ts'
import type { Account } from '../account.ts'
import { removeSandbox } from '../remove-sandbox.ts'
import type { Anchor } from './anchor.ts'
import { callPatiently } from './call-patiently.ts'
import { membersLeft } from './errors.ts'
import { listSandboxes } from './list-sandboxes.ts'
import { removeSandboxes } from './remove-sandboxes.ts'
import { listAnchors, listPools, toText } from './take-pool.ts'
import { anchorsOf, type Place } from './whose-pool.ts'

/** What is there, or may be, and is to be let go of in the end. */
export interface Holding {
  anchor?: Anchor
  place?: Place
  poolId?: string
  /** The create of a pool was not answered, so that it may exist. */
  unanswered: boolean
  size: number
}

/** Together below what a pool's actor gives a drop. */
const MEMBERS_MS = 25_000
const ANCHOR_MS = 10_000

/**
 * First the pool, so that nothing is refilled, then its unclaimed members, and the anchor last: as long as any of it is there, the anchor says whose it
 * is. What is done is struck from `holding`, so that a second call goes on where the first one failed. Rejects if something may still exist.
 */
export async function letGo(account: Account, holding: Holding): Promise<void> {
  const { place } = holding
  if (place !== undefined) {
    if (holding.poolId === undefined && holding.unanswered) await findUnanswered(account, holding, place)
    if (holding.poolId !== undefined) {
      await deletePool(account, holding.poolId)
      await deleteMembers(account, holding.poolId, place)
      delete holding.poolId
    }
    holding.unanswered = false
  }
  const { anchor } = holding
  if (anchor === undefined) return
  anchor.rest()
  await removeSandbox(account, anchor.id, ANCHOR_MS)
  delete holding.anchor
}

/** Already gone is gone. */
export async function deletePool(account: Account, id: string): Promise<void> {
  try {
    const ask = () => account.warmPools.deleteWarmPool(id)
    await callPatiently(account, `delete the pool ${id}`, ask, { idempotent: true })
  } catch (error) {
    if (!hasTag(error, 'daytona-not-found')) throw error
  }
}

/** A pool that a create of ours made whose answer never came: the one in our place that no other anchor claims. */
async function findUnanswered(account: Account, holding: Holding, place: Place): Promise<void> {
  const [pools, anchors] = await Promise.all([listPools(account), listAnchors(account, holding.anchor?.id)])
  const there = pools.find(({ snapshot, target }) => snapshot === place.snapshot && target === place.region)
  if (there !== undefined && anchorsOf(there, anchors).length === 0) holding.poolId = there.id
}

async function deleteMembers(account: Account, poolId: string, place: Place): Promise<void> {
  const members = (await listSandboxes(account, place)).filter(({ warmPoolId }) => warmPoolId === poolId)
  const ids = members.map(({ id }) => id)
  const left = await removeSandboxes(account, ids, { filter: place, deadlineMs: MEMBERS_MS })
  if (left.size > 0) throw membersLeft(toText(place), [...left.keys()])
}
