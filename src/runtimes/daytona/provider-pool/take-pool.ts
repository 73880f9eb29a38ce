import type { SandboxListItem, WarmPool } from '@daytona/api-client'
import { hasTag, toErrorData } from '../../../errors.ts'
import { toOwnerWord } from '../../../owner.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { Account } from '../account/account.ts'
import { ifThere, isUnanswered } from '../account/call.ts'
import { listPools } from '../account/list-pools.ts'
import { listSandboxes, type SandboxFilter } from '../account/list-sandboxes.ts'
import { callPatiently } from '../account/patience.ts'
import { readLabels } from '../labels.ts'
import { removeSandboxes } from '../sandbox/remove-sandboxes.ts'
import type { Anchor } from './anchor.ts'
import { ANCHOR_LABEL, judgeAnchor, POOL_ANCHOR } from './anchor-labels.ts'
import { poolContested, poolHeld, poolNotEnabled, poolOwnerless } from './errors.ts'
import { anchorsOf, goesBefore, isAt, type Place, toText } from './whose-pool.ts'

export interface TakePoolOptions {
  readonly anchor: Anchor
  readonly place: Place
  readonly size: number
  readonly signal: AbortSignal
  /** Called when a create of ours was not answered, so that the pool may exist. */
  readonly onUnanswered: () => void
}

const TRIES = 4
const ANCHORS: SandboxFilter = { labels: { [ANCHOR_LABEL.purpose]: POOL_ANCHOR } }

/**
 * The pool of a snapshot in a region, made or taken over from an owner that is dead. Rejects with `pool-held` where somebody alive holds it or
 * nobody's anchor says whose it is, with `pool-not-enabled`, and with `pool-contested` where others keep making and dropping it.
 */
export async function takePool(account: Account, options: TakePoolOptions): Promise<WarmPool> {
  const { anchor, place, signal } = options
  let unanswered = false
  for (let tried = 0; tried < TRIES; tried += 1) {
    signal.throwIfAborted()
    const [pools, anchors] = await Promise.all([listPools(account), listAnchors(account, anchor.id)])
    signal.throwIfAborted()
    const { alive, dead } = split(anchors, place, account.clock.wallTime())
    const rival = alive.find(each => goesBefore(each, anchor))
    if (rival !== undefined) throw held(rival, place)
    const existing = pools.find(pool => isAt(pool, place))
    // A create of ours that was not answered has made it, where nobody else's anchor is there.
    if (existing !== undefined && !unanswered && anchorsOf(existing, anchors).length === 0)
      throw poolOwnerless(toText(place), existing.id)
    const pool = await (existing === undefined
      ? makePool(account, options)
      : resizePool(account, existing.id, options.size))
    if (pool === 'unanswered') {
      unanswered = true
      options.onUnanswered()
    }
    if (pool === undefined || pool === 'unanswered') continue
    await clear(account, dead)
    return pool
  }
  throw poolContested(toText(place))
}

/** Of everybody, but for the one with this id. */
export async function listAnchors(account: Account, but?: string): Promise<readonly SandboxListItem[]> {
  return (await listSandboxes(account, ANCHORS)).filter(({ id, state }) => id !== but && state !== 'destroying')
}

/** Undefined: it is gone. */
export function resizePool(account: Account, id: string, size: number): Promise<WarmPool | undefined> {
  const ask = () => account.warmPools.updateWarmPool(id, { pool: size })
  return ifThere(callPatiently(account, `change the size of the pool ${id}`, ask, { idempotent: true }))
}

/** Undefined: somebody has made it meanwhile. */
async function makePool(
  account: Account,
  { place, size, signal }: Pick<TakePoolOptions, 'place' | 'size' | 'signal'>,
): Promise<WarmPool | 'unanswered' | undefined> {
  try {
    const wanted = { snapshot: place.snapshot, pool: size, target: place.region }
    const ask = () => account.warmPools.createWarmPool(wanted)
    return await callPatiently(account, `create a pool for ${toText(place)}`, ask, { idempotent: false, signal })
  } catch (error) {
    if (hasTag(error, 'daytona-forbidden')) throw poolNotEnabled(toText(place), error)
    if (hasTag(error, 'daytona-conflict')) return undefined
    if (isUnanswered(error)) return 'unanswered'
    throw error
  }
}

function split(anchors: readonly SandboxListItem[], place: Place, now: number) {
  const here = anchors.filter(anchor => isAt(anchor, place))
  const isDead = (anchor: SandboxListItem) => ['dead', 'expired'].includes(judgeAnchor(anchor, now))
  return { alive: here.filter(anchor => !isDead(anchor)), dead: here.filter(isDead) }
}

function held({ labels }: SandboxListItem, place: Place): Error {
  const { owner = 'somebody unknown' } = readLabels(labels)
  return poolHeld(toText(place), owner, owner === toOwnerWord())
}

/** Anchors of those whose pool has just been taken over. What cannot be deleted now is found by `troupe reap`. */
async function clear(account: Account, dead: readonly SandboxListItem[]): Promise<void> {
  if (dead.length === 0) return
  const ids = dead.map(({ id }) => id)
  try {
    for (const problem of (await removeSandboxes(account, ids, { filter: ANCHORS, deadlineMs: 10_000 })).values())
      publish('sandbox', problem)
  } catch (error) {
    publish('sandbox', toErrorData(error))
  }
}
