import type { Account } from '../account/account.ts'
import { ifThere } from '../account/call.ts'
import { listPools } from '../account/list-pools.ts'
import { listSandboxes } from '../account/list-sandboxes.ts'
import { callPatiently } from '../account/patience.ts'
import { removeSandbox } from '../sandbox/remove-sandbox.ts'
import { removeSandboxes } from '../sandbox/remove-sandboxes.ts'
import type { Anchor } from './anchor.ts'
import { membersLeft } from './errors.ts'
import { listAnchors } from './take-pool.ts'
import { anchorsOf, isAt, type Place, toFilter, toText } from './whose-pool.ts'

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
  const ask = () => account.warmPools.deleteWarmPool(id)
  await ifThere(callPatiently(account, `delete the pool ${id}`, ask, { idempotent: true }))
}

/** A pool that a create of ours made whose answer never came: the one in our place that no other anchor claims. */
async function findUnanswered(account: Account, holding: Holding, place: Place): Promise<void> {
  const [pools, anchors] = await Promise.all([listPools(account), listAnchors(account, holding.anchor?.id)])
  const there = pools.find(pool => isAt(pool, place))
  if (there !== undefined && anchorsOf(there, anchors).length === 0) holding.poolId = there.id
}

async function deleteMembers(account: Account, poolId: string, place: Place): Promise<void> {
  const filter = toFilter(place)
  const members = (await listSandboxes(account, filter)).filter(({ warmPoolId }) => warmPoolId === poolId)
  const ids = members.map(({ id }) => id)
  const left = await removeSandboxes(account, ids, { filter, deadlineMs: MEMBERS_MS })
  if (left.size > 0) throw membersLeft(toText(place), [...left.keys()])
}
