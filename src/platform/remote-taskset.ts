import { statusOf } from '../models/errors.ts'
import type { PlatformClient } from './client.ts'
import { isUuid } from './ids.ts'
import { fromPlatformRow } from './task-rows.ts'

/** A taskset as it is at the platform; its rows have not been looked at. */
export interface RemoteTaskset {
  readonly id: string
  readonly name: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/** The schemas of what comes back, loaded with the first call. */
const replies = () => import('./replies.ts')

/** The id of the taskset with this name; undefined where there is none. An id stands for itself, and is not looked for. */
export async function findTasksetId(client: PlatformClient, nameOrId: string): Promise<string | undefined> {
  if (isUuid(nameOrId)) return nameOrId
  const { tasksetNameReply } = await replies()
  const path = `/tasksets/by-name/${encodeURIComponent(nameOrId)}`
  const found = await unlessMissing(client.get(`looking for the taskset "${nameOrId}"`, path, tasksetNameReply))
  return found?.taskset_id
}

/** Its name, and whether this key may change it. Undefined where there is none with this id. */
export async function readTaskset(
  client: PlatformClient,
  id: string,
): Promise<{ readonly name: string; readonly canEdit: boolean } | undefined> {
  const { tasksetReply } = await replies()
  const found = await unlessMissing(client.get(`looking at the taskset ${id}`, `/tasksets/${id}`, tasksetReply))
  return found === undefined ? undefined : { name: found.name, canEdit: found.can_edit !== false }
}

/** All its rows; undefined where there is none with this id. */
export async function readRemoteTaskset(client: PlatformClient, id: string): Promise<RemoteTaskset | undefined> {
  const { exportReply } = await replies()
  const found = await unlessMissing(client.get(`reading the taskset ${id}`, `/tasksets/${id}/export`, exportReply))
  return found === undefined ? undefined : { id, name: found.name, rows: found.tasks.map(fromPlatformRow) }
}

async function unlessMissing<Reply>(call: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await call
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}
