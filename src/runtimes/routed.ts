import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { Task } from '../taskset/task.ts'
import { configurationProblems } from './configure.ts'
import { noRoute, onlyForTasks, runtimeClosed } from './errors.ts'
import type {
  ConfiguredTask,
  ProviderPool,
  ProvisionPlan,
  ProvisionRequest,
  Runtime,
  Sandbox,
  ShareCreates,
} from './runtime.ts'
import { strictestOf, type TokenBucket } from './token-bucket.ts'

/** Which runtime a task goes to: by the name of its environment, or as a function of the task decides, the same each time; undefined where none will do. */
export type Routes = Readonly<Record<string, Runtime>> | ((task: Task) => Runtime | undefined)

/** What becomes of tasks that no route is for. */
export interface RoutedRuntimeOptions {
  /** For the tasks that no route is for, and the one that sandboxes are made ahead from: forks and the provider's pool are this one's. */
  readonly otherwise?: Runtime
}

/**
 * Several runtimes as one: each task is sent to the runtime that its route names, so that the tasks of one run may be of several environments, in several
 * places. A sandbox is made for its task, and none ahead of one unless there is an `otherwise`. Forks, pools and prewarming of the other runtimes are not
 * used here. What each knows of its tasks, of why a sandbox died, and of its account's limit on creates is: creates keep to the strictest of these. All of
 * them are closed with this one.
 */
export class RoutedRuntime implements Runtime {
  readonly name = 'routed'
  readonly prewarms: boolean
  readonly forks?: boolean
  readonly providerPool?: ProviderPool
  readonly creates?: TokenBucket
  readonly #route: (task: Task) => Runtime | undefined
  readonly #names: readonly string[] | undefined
  readonly #otherwise: Runtime | undefined
  /** Those that are known. A function's are known once it has named them. */
  readonly #known = new Set<Runtime>()
  readonly #live = new Map<SandboxId, Runtime>()
  #closing: Promise<void> | undefined

  constructor(routes: Routes, { otherwise }: RoutedRuntimeOptions = {}) {
    this.#otherwise = otherwise
    this.prewarms = otherwise !== undefined && otherwise.prewarms !== false
    if (otherwise?.forks !== undefined) this.forks = otherwise.forks
    if (otherwise?.providerPool !== undefined) this.providerPool = otherwise.providerPool
    if (typeof routes === 'function') this.#route = routes
    else {
      const byName = new Map(Object.entries(routes))
      this.#names = [...byName.keys()]
      this.#route = task => byName.get(task.env)
      for (const runtime of byName.values()) this.#known.add(runtime)
    }
    if (otherwise !== undefined) this.#known.add(otherwise)
    const buckets = [...this.#known].flatMap(({ creates }) => creates ?? [])
    if (buckets.length > 0) this.creates = strictestOf(buckets)
  }

  shareCreates(share: ShareCreates): void {
    for (const runtime of this.#known) runtime.shareCreates?.(share)
  }

  /** Of the runtimes that the plan's tasks go to; of all that are known, where nothing says which those are. Rejects as the first of them does. */
  async preflight(plan?: ProvisionPlan): Promise<void> {
    const checks =
      plan?.tasks === undefined
        ? [...this.#known].map(runtime => runtime.preflight(plan))
        : [...this.#groups(plan.tasks)].map(([runtime, tasks]) =>
            runtime.preflight({ ...plan, tasks, providerPool: plan.providerPool && runtime === this.#otherwise }),
          )
    for (const end of await Promise.allSettled(checks)) if (end.status === 'rejected') throw end.reason
  }

  /** What each runtime says of its own tasks, and those that no route is for. */
  async checkTasks(tasks: readonly Task[]): Promise<readonly string[]> {
    const lost = tasks.filter(task => this.#find(task) === undefined)
    const known = await Promise.all(
      [...this.#groups(tasks)].map(async ([runtime, own]) => (await runtime.checkTasks?.(own)) ?? []),
    )
    return [...lost.map(task => `${task.slug}: ${noRoute(task, this.#names).message}`), ...known.flat()]
  }

  kindOf(task: Task): string | undefined {
    const runtime = this.#find(task)
    if (runtime === undefined) return 'nowhere'
    const kind = runtime.kindOf?.(task)
    return runtime === this.#otherwise ? kind : JSON.stringify([[...this.#known].indexOf(runtime), kind ?? null])
  }

  configure(task: Task): ConfiguredTask {
    const runtime = this.#find(task)
    if (runtime?.configure !== undefined) return runtime.configure(task)
    const problems = runtime === undefined ? [] : configurationProblems(runtime, task)
    return { config: task.runtime_config ?? {}, problems }
  }

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    if (this.#closing !== undefined) throw runtimeClosed(this.name)
    const { id, task } = request
    const runtime = task === undefined ? this.#otherwise : this.#find(task)
    if (runtime === undefined) throw task === undefined ? onlyForTasks(id) : noRoute(task, this.#names)
    this.#live.set(id, runtime)
    try {
      const sandbox = await runtime.provision(request)
      const dispose: Sandbox['dispose'] = async how => {
        await sandbox.dispose(how)
        this.#live.delete(id)
      }
      return { ...sandbox, dispose }
    } catch (error) {
      this.#live.delete(id)
      throw error
    }
  }

  async diagnose(id: SandboxId): Promise<ErrorData | undefined> {
    return this.#live.get(id)?.diagnose?.(id)
  }

  /** Of the runtimes that can tell. */
  async list() {
    const lists = await Promise.all([...this.#known].map(async runtime => (await runtime.list?.()) ?? []))
    return lists.flat()
  }

  /** Of the runtimes that can. */
  async reap(owners: readonly string[], job?: string): Promise<number> {
    const counts = await Promise.all([...this.#known].map(async runtime => (await runtime.reap?.(owners, job)) ?? 0))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const ends = await Promise.allSettled([...this.#known].map(runtime => runtime.close()))
    this.#live.clear()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  #find(task: Task): Runtime | undefined {
    const runtime = this.#route(task) ?? this.#otherwise
    if (runtime !== undefined) this.#known.add(runtime)
    return runtime
  }

  #groups(tasks: readonly Task[]): ReadonlyMap<Runtime, readonly Task[]> {
    const groups = new Map<Runtime, Task[]>()
    for (const task of tasks) {
      const runtime = this.#find(task)
      if (runtime === undefined) continue
      const group = groups.get(runtime) ?? []
      groups.set(runtime, group)
      group.push(task)
    }
    return groups
  }
}
