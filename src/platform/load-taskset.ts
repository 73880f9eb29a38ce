import { parseTaskRows } from '../taskset/parse-task-rows.ts'
import { Taskset } from '../taskset/taskset.ts'
import type { PlatformClientOptions } from './client.ts'

/**
 * A taskset of HUD's platform, by name or id: what `Taskset.load('hud:NAME')` does, with a key and addresses of one's own. Rejects as `fetchTaskset`
 * does, with `bad-task-rows` or with `empty-taskset`.
 */
export async function loadPlatformTaskset(nameOrId: string, options: PlatformClientOptions = {}): Promise<Taskset> {
  const { fetchTaskset } = await import('./fetch-taskset.ts')
  const { name, rows, platformId } = await fetchTaskset(nameOrId, options)
  return new Taskset(name, parseTaskRows(rows), { platformId })
}
