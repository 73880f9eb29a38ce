import { startThreads } from '../threads/pool.ts'
import { type Engine, type EnginePorts, startEngine } from './engine.ts'
import type { EngineSettings } from './settings.ts'

const MIB = 1024 * 1024

/** The default: rollout groups in worker threads, one shard a thread; pool, collector and supervisor in this one. */
export function startThreadedEngine(settings: EngineSettings, ports: EnginePorts): Engine {
  return startEngine(settings, ports, (system, supervisor, data) =>
    startThreads({
      threads: settings.threads,
      hangMs: settings.threadHangMs,
      ...(settings.threadHeapBytes === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: settings.threadHeapBytes / MIB } }),
      entry: new URL('./shard.js', import.meta.url),
      data,
      system,
      onUp: ({ node, root }) => void supervisor.tell({ type: 'shard-up', node, root: system.ref(root.address) }),
      onDown: (node, error) => void supervisor.tell({ type: 'shard-down', node, error }),
    }),
  )
}
