import { untilAborted } from '../../../bounded.ts'
import type { Clock } from '../../../clock.ts'
import { toErrorData } from '../../../errors.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { ProviderPool } from '../../runtime.ts'
import type { Account } from '../account/account.ts'
import { listPools } from '../account/list-pools.ts'
import { listSandboxes } from '../account/list-sandboxes.ts'
import { makeAnchor } from './anchor.ts'
import { claimImpossible, poolDropped, poolFailing } from './errors.ts'
import { type Holding, letGo } from './let-go.ts'
import { resizePool, takePool } from './take-pool.ts'
import { type Place, toFilter, toText } from './whose-pool.ts'

export interface ProviderPoolOptions {
  /** What sandboxes are made from; built, where need be, before the first hold. */
  readonly snapshot: () => Promise<{ readonly name: string }>
  /** Why the creates of this runtime could never be answered from a pool; undefined when they can be. */
  readonly obstacle: () => string | undefined
  /** For the anchor: those of any sandbox of this process, as they are called at the provider. */
  readonly labels: () => Readonly<Record<string, string>>
  readonly clock: Clock
  /** Default 15. */
  readonly autoStopMinutes?: number
}

/** How often a pool that is not full is asked why, at most. */
const REASON_EVERY_MS = 5_000

/**
 * The provider's own pool of one snapshot, in the region where sandboxes really land. One process holds it; another engine that wants the same one, in this
 * process too, is refused with `pool-held`.
 */
export function makeProviderPool(account: Account, options: ProviderPoolOptions): ProviderPool {
  const stop = new AbortController()
  const holding: Holding = { unanswered: false, size: 0 }
  let last: Promise<void> = Promise.resolve()
  let dropped: Promise<void> | undefined
  let reasonAt = Number.NEGATIVE_INFINITY
  let reasonTold: string | undefined

  /** Holds follow one another, so that the last size asked for is the one that stays. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(work)
    last = turn.catch(() => {}) // whoever asked is told; the next one starts afresh
    return turn
  }

  async function take(size: number): Promise<void> {
    stop.signal.throwIfAborted()
    holding.size = size
    if (holding.poolId !== undefined && (await resizePool(account, holding.poolId, size)) !== undefined) return
    delete holding.poolId
    // What is awaited makes nothing of ours, so whoever lets go need not wait for it.
    const { name } = await untilAborted(options.snapshot(), stop.signal)
    try {
      await begin(name, size)
    } catch (error) {
      // What would not go is tried again by `drop`.
      await letGo(account, holding).catch((left: unknown) => publish('sandbox', toErrorData(left)))
      throw error
    }
  }

  async function begin(snapshot: string, size: number): Promise<void> {
    const { autoStopMinutes = 15 } = options
    const { signal } = stop
    holding.anchor ??= await makeAnchor(account, { snapshot, labels: options.labels(), autoStopMinutes, signal })
    const { anchor } = holding
    const place = { snapshot, region: anchor.region }
    holding.place = place
    const onUnanswered = () => {
      holding.unanswered = true
    }
    const { id } = await takePool(account, { anchor, place, size, signal, onUnanswered })
    holding.poolId = id
    await anchor.mark(id)
  }

  /** Published once for each reason. Never rejects: it is asked beside what was wanted. */
  async function tellReason(poolId: string, place: Place): Promise<void> {
    if (options.clock.now() < reasonAt + REASON_EVERY_MS) return
    reasonAt = options.clock.now()
    try {
      const reason = (await listPools(account)).find(({ id }) => id === poolId)?.errorReason ?? undefined
      if (reason !== undefined && reason !== reasonTold) publish('sandbox', poolFailing(toText(place), reason, poolId))
      reasonTold = reason
    } catch {
      // The count is what was asked for.
    }
  }

  return {
    async hold(size) {
      const obstacle = options.obstacle()
      if (obstacle !== undefined) throw claimImpossible((await options.snapshot()).name, obstacle)
      await inTurn(() => take(size))
    },
    async ready() {
      const { poolId, place } = holding
      if (poolId === undefined || place === undefined || stop.signal.aborted) return 0
      const listed = await listSandboxes(account, { ...toFilter(place), states: ['started'] })
      const count = listed.filter(({ warmPoolId, state }) => warmPoolId === poolId && state === 'started').length
      if (count < holding.size) await tellReason(poolId, place)
      return count
    },
    drop() {
      stop.abort(poolDropped(holding.place?.snapshot ?? 'this runtime'))
      dropped ??= last.then(() => letGo(account, holding))
      dropped.catch(() => {
        dropped = undefined // may be tried again
      })
      return dropped
    },
  }
}
