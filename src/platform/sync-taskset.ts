import { parseTaskRows } from '../taskset/parse-task-rows.ts'
import type { Task } from '../taskset/task.ts'
import { PlatformClient, type PlatformClientOptions } from './client.ts'
import { tasksetNotEditable, unknownPlatformTaskset } from './errors.ts'
import { fetchRemote } from './fetch-taskset.ts'
import { planSync, type SyncPlan } from './plan-sync.ts'
import { findTasksetId, readRemoteTaskset, readTaskset } from './remote-taskset.ts'
import { toUploadItem } from './task-rows.ts'

/** The taskset of the platform that tasks are put into. */
export interface SyncTarget {
  /** What the taskset is called there. */
  readonly name: string
  /** Undefined: there is none yet, and it will be made. */
  readonly id: string | undefined
  readonly plan: SyncPlan
}

/** What a sync has done. */
export interface Synced {
  readonly id: string
  readonly created: number
  readonly updated: number
  /** Where a person looks at it. */
  readonly url: string
}

/** Compares local tasks with a taskset of HUD's platform, and makes that one like them. */
export class TasksetSync implements AsyncDisposable {
  readonly #client: PlatformClient

  /** Throws `no-key` or `bad-platform-url`. */
  constructor(options: PlatformClientOptions = {}) {
    this.#client = new PlatformClient('syncing a taskset', options)
  }

  /**
   * What would be done; nothing is changed. A name that is not there yet is one to be made; an id must be there (`unknown-taskset`). `force`: as if
   * it were empty, so that every task is sent. Rejects with `taskset-read-only` where something would be changed that may not be.
   */
  async plan(nameOrId: string, tasks: readonly Task[], { force = false } = {}): Promise<SyncTarget> {
    const client = this.#client
    const id = await findTasksetId(client, nameOrId)
    if (id === undefined) return { name: nameOrId, id, plan: planSync(tasks, []) }
    const taskset = await readTaskset(client, id)
    if (taskset === undefined) throw unknownPlatformTaskset(nameOrId, client.apiUrl)
    const remote = force ? [] : parseRows(taskset.name, (await readRemoteTaskset(client, id))?.rows ?? [])
    const plan = planSync(tasks, remote)
    const changes = plan.create.length + plan.update.length > 0
    if (changes && !taskset.canEdit) throw tasksetNotEditable(taskset.name, client.apiUrl)
    return { name: taskset.name, id, plan }
  }

  /** Sends what the plan creates and updates, in one call: the platform takes all of it or none. */
  async apply({ name, id, plan }: SyncTarget): Promise<Synced> {
    const { uploadReply } = await import('./replies.ts')
    const body = {
      taskset_name: name,
      tasks: [...plan.create, ...plan.update].map(toUploadItem),
      ...(id === undefined ? {} : { taskset_id: id }),
    }
    const done = await this.#client.post(`sending tasks to the taskset "${name}"`, '/tasks/upload', body, uploadReply)
    return {
      id: done.taskset_id,
      created: done.tasks_created,
      updated: done.tasks_updated,
      url: `${this.#client.webUrl}/tasksets/${done.taskset_id}`,
    }
  }

  /** All tasks that are there, none included. Rejects with `unknown-taskset` too. */
  async read(nameOrId: string): Promise<{ readonly name: string; readonly tasks: readonly Task[] }> {
    const { name, rows } = await fetchRemote(this.#client, nameOrId)
    return { name, tasks: parseRows(name, rows) }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function parseRows(name: string, rows: readonly unknown[]): readonly Task[] {
  return parseTaskRows(rows.map((value, index) => ({ value, place: `hud:${name}[${index}]` })))
}
