import type { SnapshotDto } from '@daytona/api-client'
import { toErrorData } from '../../../errors.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { Account } from '../account/account.ts'
import { listPools } from '../account/list-pools.ts'
import { listSandboxes } from '../account/list-sandboxes.ts'
import { toBase } from './built-name.ts'
import { staleNotDeleted } from './errors.ts'
import { deleteSnapshot, listSnapshots } from './look.ts'

/** A snapshot that was built here, and that nobody seems to need any more. */
export interface StaleSnapshot {
  readonly id: string
  readonly name: string
  /** The name without its hash. */
  readonly base: string
  /** Milliseconds since 1970; when it was made, if it never was used. */
  readonly lastUsedAt: number
}

const UNUSED_MS = 24 * 60 * 60_000
/**
 * Of each base: the one in use, and the one before. Who switches between two branches goes back and forth without a build; a third branch costs one,
 * which is what a snapshot less on the account's limit is worth.
 */
const KEPT = 2

/**
 * Snapshots with a hash in their name of which no sandbox and no pool exists, that have not been used for a day, the two last used of each base left
 * out; those of one base, or of all. Changes nothing.
 */
export async function findStaleSnapshots(account: Account, base?: string): Promise<readonly StaleSnapshot[]> {
  const before = account.clock.wallTime() - UNUSED_MS
  const all = (await listSnapshots(account, base)).flatMap(toBuilt)
  const old = [...groupByBase(all.filter(each => base === undefined || each.base === base)).values()].flatMap(same =>
    same
      .toSorted((one, other) => other.lastUsedAt - one.lastUsedAt)
      .slice(KEPT)
      .filter(({ lastUsedAt }) => lastUsedAt < before),
  )
  if (old.length === 0) return []
  const inUse = await findInUse(account, old)
  return old.filter(({ name, id }) => !inUse.has(name) && !inUse.has(id))
}

/** After a build, of its own base. What fails is published and left to the reaper; it never rejects. */
export async function deleteStaleSnapshots(account: Account, base: string): Promise<void> {
  let name = base
  try {
    for (const stale of await findStaleSnapshots(account, base)) {
      name = stale.name
      await deleteSnapshot(account, stale)
    }
  } catch (error) {
    publish('sandbox', staleNotDeleted(name, toErrorData(error)))
  }
}

const ENDED: ReadonlySet<string> = new Set(['active', 'inactive', 'error', 'build_failed'])

/** Neither pulled from a registry, nor the provider's own, nor still under way. */
function toBuilt(snapshot: SnapshotDto): readonly StaleSnapshot[] {
  const base = toBase(snapshot.name)
  const isPulled = snapshot.imageName !== undefined && snapshot.imageName !== '' && snapshot.buildInfo === undefined
  if (base === undefined || snapshot.general || isPulled || !ENDED.has(snapshot.state)) return []
  const lastUsedAt = new Date(snapshot.lastUsedAt ?? snapshot.createdAt).getTime()
  return [{ id: snapshot.id, name: snapshot.name, base, lastUsedAt }]
}

function groupByBase(snapshots: readonly StaleSnapshot[]): ReadonlyMap<string, StaleSnapshot[]> {
  const groups = new Map<string, StaleSnapshot[]>()
  for (const snapshot of snapshots) groups.set(snapshot.base, [...(groups.get(snapshot.base) ?? []), snapshot])
  return groups
}

/** Names or ids, as sandboxes and pools have them. */
async function findInUse(account: Account, snapshots: readonly StaleSnapshot[]): Promise<ReadonlySet<string>> {
  const [pools, sandboxes] = await Promise.all([
    listPools(account),
    listSandboxes(account, { snapshots: snapshots.map(({ name }) => name) }),
  ])
  return new Set([...pools, ...sandboxes].flatMap(({ snapshot = [] }) => snapshot))
}
