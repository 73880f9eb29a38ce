import type { Account } from '../account/account.ts'
import { ensureSnapshot, type ReadySnapshot } from './ensure.ts'
import type { WantedResources } from './recipe.ts'

/** Snapshots of images that tasks name, each found or built once. */
export interface ImageSnapshots {
  /** Rejects as `ensureSnapshot` does; what has failed is tried again by the next who asks. */
  obtain(image: string, resources: WantedResources): Promise<ReadySnapshot>
  /** Of those that are there. */
  names(): readonly string[]
}

/** Builds are called off when `closing` aborts, and not with the sandbox that wanted one: the next one wants it, too. */
export function makeImageSnapshots(
  account: Account,
  { onBuildLog }: { readonly onBuildLog?: ((line: string) => void) | undefined },
  closing: AbortSignal,
): ImageSnapshots {
  const snapshots = new Map<string, Promise<ReadySnapshot>>()
  const names: string[] = []

  async function build(image: string, { cpu, memory, disk }: WantedResources): Promise<ReadySnapshot> {
    const { Image } = await import('@daytonaio/sdk')
    const size = [
      [cpu, 'cpu'],
      [memory, 'gb'],
      [disk, 'gb-disk'],
    ].flatMap(([count, unit]) => (count === undefined ? [] : `-${count}${unit}`))
    const snapshot = await ensureSnapshot(account, {
      // Of those with one name, a new one replaces the others.
      name: `troupe-image-${image.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')}${size.join('')}`,
      image: Image.base(image),
      // What a snapshot is built with cannot be changed in a sandbox of it, so each size is a snapshot of its own.
      resources: {
        ...(cpu === undefined ? {} : { cpu }),
        ...(memory === undefined ? {} : { memory }),
        ...(disk === undefined ? {} : { disk }),
      },
      onBuildLog,
      signal: closing,
    })
    names.push(snapshot.name)
    return snapshot
  }

  return {
    obtain(image, resources) {
      const { cpu = null, memory = null, disk = null } = resources
      const key = JSON.stringify([image, cpu, memory, disk])
      const known = snapshots.get(key)
      if (known !== undefined) return known
      const building = build(image, resources)
      snapshots.set(key, building)
      building.catch(() => snapshots.delete(key))
      return building
    },
    names: () => names,
  }
}
