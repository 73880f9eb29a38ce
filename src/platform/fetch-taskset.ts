import { PlatformClient, type PlatformClientOptions } from './client.ts'
import { unknownPlatformTaskset } from './errors.ts'
import { findTasksetId, type RemoteTaskset, readRemoteTaskset } from './remote-taskset.ts'

/** Rows as a tasks file would have them. */
export interface FetchedTaskset {
  readonly name: string
  readonly rows: readonly { readonly value: unknown; readonly place: string }[]
  readonly platformId: string
}

/**
 * The rows of a taskset of HUD's platform, by name or id. Rejects with `no-key`, `unknown-taskset`, `unauthorized`, `platform-refused`,
 * `platform-failed` or `bad-reply`.
 */
export async function fetchTaskset(nameOrId: string, options: PlatformClientOptions = {}): Promise<FetchedTaskset> {
  await using client = new PlatformClient(`the taskset hud:${nameOrId}`, options)
  const { id, name, rows } = await fetchRemote(client, nameOrId)
  return { name, rows: rows.map((value, index) => ({ value, place: `hud:${name}[${index}]` })), platformId: id }
}

/** The same over a client that is open. */
export async function fetchRemote(client: PlatformClient, nameOrId: string): Promise<RemoteTaskset> {
  const id = await findTasksetId(client, nameOrId)
  const found = id === undefined ? undefined : await readRemoteTaskset(client, id)
  if (found === undefined) throw unknownPlatformTaskset(nameOrId, client.apiUrl)
  return found
}
