import type { SnapshotDto } from '@daytona/api-client'
import type { Account } from '../account/account.ts'
import { callDaytona, ifThere } from '../account/call.ts'

/** The snapshot of that name; undefined when there is none. */
export function lookUp({ snapshots }: Account, name: string): Promise<SnapshotDto | undefined> {
  // The name may hold slashes, which the generated client escapes.
  return ifThere(callDaytona(`look at the snapshot ${name}`, () => snapshots.getSnapshot(name)))
}

const PAGE = 100

/** All snapshots that the account may use, the provider's own included. `name` narrows to those that hold it. */
export async function listSnapshots({ snapshots }: Account, name?: string): Promise<readonly SnapshotDto[]> {
  const found: SnapshotDto[] = []
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { items, totalPages } = await callDaytona('list the snapshots', () =>
      snapshots.getAllSnapshots(undefined, page, PAGE, name),
    )
    found.push(...items)
    pages = totalPages
  }
  return found
}

/** Asks for its end. A snapshot that is gone already is no error; it may stay in `removing` for a while. */
export async function deleteSnapshot(
  { snapshots }: Account,
  { id, name }: Pick<SnapshotDto, 'id' | 'name'>,
): Promise<void> {
  await ifThere(callDaytona(`delete the snapshot ${name}`, () => snapshots.removeSnapshot(id)))
}
