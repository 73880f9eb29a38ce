import type { SnapshotDto } from '@daytona/api-client'
import type { Image } from '@daytonaio/sdk'
import { publish } from '../../../telemetry/channels.ts'
import type { Account } from '../account/account.ts'
import { obtainSnapshot } from './build.ts'
import { toBuiltName } from './built-name.ts'
import { buildLine, snapshotElsewhere, snapshotMissing, snapshotNotActive } from './errors.ts'
import { listSnapshots, lookUp } from './look.ts'
import { hashRecipe, readRecipe, type WantedResources } from './recipe.ts'
import { deleteStaleSnapshots } from './stale.ts'

/** What sandboxes are to be made from. */
export interface SnapshotRequest {
  /** Of the snapshot; with an image, what its name begins with. */
  readonly name: string
  /** What it is built from, or the Dockerfile's path. Absent: it must be there. */
  readonly image?: Image | string | undefined
  /** Of one sandbox, built into the snapshot. Without an image they are of no effect here. */
  readonly resources?: WantedResources | undefined
  /** Told each line of a build's log. Default: published on the channel `troupe:sandbox`. */
  readonly onBuildLog?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** A snapshot that sandboxes can be made from. */
export interface ReadySnapshot {
  readonly name: string
  /** The snapshot's own: vCPUs, and GiB of memory and disk. A sandbox that asks for others cannot be claimed from the provider's own pools. */
  readonly resources: { readonly cpu: number; readonly memory: number; readonly disk: number }
  readonly organizationId: string | undefined
  /** Where it is; empty where the provider does not tell. */
  readonly regions: readonly string[]
  /** What a container of the image would run, as one shell command; undefined without an image, or when its Dockerfile names none. */
  readonly command: string | undefined
}

/**
 * Without an image: the snapshot of that name, which must exist, be active, and be in the account's region: `snapshot-missing`, `snapshot-not-active`,
 * `snapshot-elsewhere`. With one: `NAME-HASH`, built if there is none, so that the same files are never built twice and a change is a new snapshot; also
 * rejects as `readRecipe` and `obtainSnapshot` do. After a build, those of the same name that nobody uses any more are deleted.
 */
export async function ensureSnapshot(account: Account, request: SnapshotRequest): Promise<ReadySnapshot> {
  const { image, resources = {}, signal, onBuildLog } = request
  if (image === undefined) return toReady(await requireSnapshot(account, request.name), undefined)
  const recipe = await readRecipe(image)
  const name = toBuiltName(request.name, await hashRecipe(recipe, resources, account.region))
  const onLine = onBuildLog ?? (line => publish('sandbox', buildLine(name, line)))
  const { snapshot, built } = await obtainSnapshot(account, { name, recipe, resources, onLine, signal })
  requireRegion(account, snapshot)
  if (built) await deleteStaleSnapshots(account, request.name)
  return toReady(snapshot, recipe.command)
}

async function requireSnapshot(account: Account, name: string): Promise<SnapshotDto> {
  const snapshot = await lookUp(account, name)
  if (snapshot === undefined) {
    const existing = await listSnapshots(account)
    throw snapshotMissing(name, existing.map(each => each.name).sort())
  }
  if (snapshot.state !== 'active') throw snapshotNotActive(name, snapshot.state, snapshot.errorReason)
  requireRegion(account, snapshot)
  return snapshot
}

function requireRegion({ region }: Account, { name, regionIds }: SnapshotDto): void {
  if (region === undefined || regionIds === undefined || regionIds.length === 0) return
  if (!regionIds.includes(region)) throw snapshotElsewhere(name, region, regionIds)
}

function toReady({ name, cpu, mem, disk, organizationId, regionIds }: SnapshotDto, command: string | undefined) {
  return { name, resources: { cpu, memory: mem, disk }, organizationId, regions: regionIds ?? [], command }
}
