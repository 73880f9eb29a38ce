import { type ErrorData, toErrorData } from '../../../errors.ts'
import type { Account } from '../account/account.ts'
import { listSandboxes } from '../account/list-sandboxes.ts'
import { mapWide } from '../account/map-wide.ts'
import { patiently } from '../account/patience.ts'
import { deletePool } from '../provider-pool/index.ts'
import { removeSandboxes } from '../sandbox/remove-sandboxes.ts'
import { deleteSnapshot } from '../snapshot/index.ts'
import { poolStays } from './errors.ts'
import type { Leftover } from './leftover.ts'
import { toLeftover } from './to-leftover.ts'

export interface RemoveLeftoversOptions {
  /** After which what is still there counts as not gone. Default one minute. */
  readonly deadlineMs?: number
}

/** One that would not go. */
export interface Failure {
  readonly leftover: Leftover
  readonly problem: ErrorData
}

/**
 * Deletes them and sees that they are gone: pools, so that nothing is refilled, then their members and the sandboxes, then the anchors of the pools that are
 * gone, then the snapshots. `onEach` is told of each as it goes, or does not; one that fails stops no other. Answers those that would not go.
 */
export async function removeLeftovers(
  account: Account,
  leftovers: readonly Leftover[],
  onEach: (leftover: Leftover, problem: ErrorData | undefined) => void = () => {},
  options: RemoveLeftoversOptions = {},
): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  const of = (...kinds: readonly Leftover['kind'][]) => leftovers.filter(({ kind }) => kinds.includes(kind))
  const tell = (leftover: Leftover, problem?: ErrorData) => {
    if (problem !== undefined) failures.push({ leftover, problem })
    onEach(leftover, problem)
  }
  /** Pools that are there still, whole or in part. */
  const staying = new Set<string>()
  const keepsPool = ({ pool }: Leftover) => pool !== undefined && staying.has(pool)

  await mapWide(of('pool'), async pool => {
    const problem = await attempt(() => deletePool(account, pool.id))
    if (problem !== undefined) staying.add(pool.id)
    tell(pool, problem)
  })
  const members = await withLateMembers(account, of('pool'), of('pool-member'))
  for (const member of members.filter(keepsPool)) tell(member, poolStays(member))
  await removeAll([...members.filter(member => !keepsPool(member)), ...of('sandbox')])
  for (const { leftover } of failures) if (leftover.pool !== undefined) staying.add(leftover.pool)
  for (const anchor of of('pool-anchor').filter(keepsPool)) tell(anchor, poolStays(anchor))
  await removeAll(of('pool-anchor').filter(anchor => !keepsPool(anchor)))
  await mapWide(of('snapshot'), async snapshot =>
    tell(
      snapshot,
      await attempt(() => patiently(account, () => deleteSnapshot(account, snapshot), { idempotent: true })),
    ),
  )
  return failures

  async function removeAll(sandboxes: readonly Leftover[]): Promise<void> {
    const byId = new Map(sandboxes.map(leftover => [leftover.id, leftover]))
    const settle = (id: string, problem: ErrorData | undefined) => {
      const leftover = byId.get(id)
      if (byId.delete(id) && leftover !== undefined) tell(leftover, problem)
    }
    const problem = await attempt(() => removeSandboxes(account, [...byId.keys()], { ...options, onEach: settle }))
    // They could not be listed, so that nobody knows whether they are gone.
    if (problem !== undefined) for (const leftover of byId.values()) tell(leftover, problem)
  }
}

/** Members that came between the look and the delete of their pool go with it. */
async function withLateMembers(
  account: Account,
  pools: readonly Leftover[],
  found: readonly Leftover[],
): Promise<readonly Leftover[]> {
  if (pools.length === 0) return found
  const known = new Set(found.map(({ id }) => id))
  const byId = new Map(pools.map(pool => [pool.id, pool]))
  const late = (await listSandboxes(account)).flatMap(sandbox => {
    const pool = byId.get(sandbox.warmPoolId ?? '')
    if (pool === undefined || known.has(sandbox.id)) return []
    return [toLeftover('pool-member', sandbox, pool.standing, pool.id)]
  })
  return [...found, ...late]
}

async function attempt(work: () => Promise<unknown>): Promise<ErrorData | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return toErrorData(error)
  }
}
