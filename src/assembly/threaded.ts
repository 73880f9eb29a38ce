import { startThreads } from '../threads/pool.ts'
import { type Engine, type EnginePorts, startEngine } from './engine.ts'
import type { EngineSettings } from './settings.ts'

const MIB = 1024 * 1024
/**
 * A thread that has reached the limit of its heap is given 16 MiB more in which to end (`Worker::NearHeapLimit` in Node). One
 * collection may move all that lives in the young generation, two thirds of its size, into the old one: more than that, and V8
 * takes the whole process down instead. With 64 MiB it did so in one of eight trials.
 */
const YOUNG_GENERATION_MIB = 24

/** The default: rollout groups in worker threads, one shard a thread; pool, collector and supervisor in this one. */
export function startThreadedEngine(settings: EngineSettings, ports: EnginePorts): Engine {
  return startEngine(settings, ports, (system, supervisor, data) =>
    startThreads({
      threads: settings.threads,
      hangMs: settings.threadHangMs,
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
        ...(settings.threadHeapBytes === undefined ? {} : { maxOldGenerationSizeMb: settings.threadHeapBytes / MIB }),
      },
      entry: new URL('./shard.js', import.meta.url),
      data,
      system,
      onUp: ({ node, root }) => void supervisor.tell({ type: 'shard-up', node, root: system.ref(root.address) }),
      onDown: (node, error) => void supervisor.tell({ type: 'shard-down', node, error }),
    }),
  )
}
