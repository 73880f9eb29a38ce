import type { Task } from '../taskset/task.ts'
import { contentOf } from './task-rows.ts'

/** What a sync would do with each task, by its slug. Nothing is ever deleted at the platform. */
export interface SyncPlan {
  readonly create: readonly Task[]
  readonly update: readonly Task[]
  readonly unchanged: readonly Task[]
  /** There, and not among the local ones: it stays as it is. */
  readonly remoteOnly: readonly Task[]
}

/** Pure. Tasks of one slug are the same where everything else of them is. */
export function planSync(local: readonly Task[], remote: readonly Task[]): SyncPlan {
  const there = new Map(remote.map(task => [task.slug, task]))
  const create: Task[] = []
  const update: Task[] = []
  const unchanged: Task[] = []
  for (const task of local) {
    const other = there.get(task.slug)
    there.delete(task.slug)
    const place = other === undefined ? create : contentOf(task) === contentOf(other) ? unchanged : update
    place.push(task)
  }
  return { create, update, unchanged, remoteOnly: [...there.values()] }
}
