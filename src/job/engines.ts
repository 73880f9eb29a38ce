import type { Engine, EnginePorts } from '../assembly/engine.ts'
import type { EngineSettings } from '../assembly/settings.ts'
import { fromErrorData } from '../errors.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { clusterSettingsDiffer, sandboxesLeft } from './errors.ts'

/** The engines of one job: one for each different set of settings that its runs were given. */
export interface Engines {
  /** The runtime is closed with the job from now on: asking it whether it could run something may have started what must be ended. */
  use(runtime: Runtime): void
  /** Starts one, unless an earlier run had the same runtime and settings. Rejects with `cluster-settings-differ` where a job on several machines would have two. */
  get(settings: EngineSettings): Promise<Engine>
  readonly running: readonly Engine[]
  /** Ends all of them, and their runtimes where no other job uses them. Rejects with `sandboxes-left`. */
  close(): Promise<void>
}

/** How many jobs of this process use a runtime: the last one closes it. */
const users = new WeakMap<Runtime, number>()

export function makeEngines(ports: EnginePorts): Engines {
  const started = new Map<string, Engine>()
  const starting = new Map<string, Promise<Engine>>()
  const used = new Set<Runtime>()
  const runtimeIds = new Map<Runtime, number>()

  function keyOf({ runtime, clock: _clock, ids: _ids, ...data }: EngineSettings): string {
    const id = runtimeIds.get(runtime) ?? runtimeIds.size
    runtimeIds.set(runtime, id)
    return JSON.stringify([id, data])
  }

  async function begin(key: string, settings: EngineSettings): Promise<Engine> {
    try {
      const engine = await start(settings)
      started.set(key, engine)
      return engine
    } finally {
      starting.delete(key)
    }
  }

  /** Loaded when first needed: a program that only reads tasksets or journals pays for no engine. */
  async function start(settings: EngineSettings): Promise<Engine> {
    const { cluster, threads } = settings
    if (cluster !== undefined)
      return (await import('../assembly/clustered.ts')).startClusteredEngine(settings, ports, cluster)
    if (threads === 0) return (await import('../assembly/local.ts')).startLocalEngine(settings, ports)
    return (await import('../assembly/threaded.ts')).startThreadedEngine(settings, ports)
  }

  return {
    use(runtime) {
      if (used.has(runtime)) return
      used.add(runtime)
      users.set(runtime, (users.get(runtime) ?? 0) + 1)
    },
    async get(settings) {
      const key = keyOf(settings)
      const known = started.get(key)
      if (known !== undefined) return known
      const isOther = !starting.has(key) && started.size + starting.size > 0
      // Its workers have one engine for the job, and a second coordinator would take it over.
      if (settings.cluster !== undefined && isOther) throw clusterSettingsDiffer()
      // Two runs that begin at once want one engine.
      const engine = starting.get(key) ?? begin(key, settings)
      starting.set(key, engine)
      return engine
    },
    get running() {
      return [...started.values()]
    },
    async close() {
      const left: string[] = []
      const failures: unknown[] = []
      // One that takes its time to start, on several machines, is not left behind.
      await Promise.allSettled(starting.values())
      for (const engine of [...started.values()].reverse()) {
        try {
          const { quarantined, providerPool } = await engine.close()
          left.push(...quarantined)
          if (providerPool !== undefined) failures.push(fromErrorData(providerPool))
        } catch (error) {
          failures.push(error)
        }
      }
      for (const runtime of used) {
        const others = (users.get(runtime) ?? 1) - 1
        users.set(runtime, others)
        if (others === 0) await runtime.close().catch(error => failures.push(error))
      }
      started.clear()
      used.clear()
      if (left.length > 0) throw sandboxesLeft(left)
      if (failures.length > 0) throw failures[0]
    },
  }
}
