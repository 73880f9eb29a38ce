import { startThreads } from '../threads/pool.ts'
import { type Engine, type EnginePorts, startEngine } from './engine.ts'
import type { EngineSettings } from './settings.ts'

const MIB = 1024 * 1024
/**
 * What rollouts in flight leave behind is short-lived but not that short-lived: with V8's 48 MiB it survives into the old
 * generation and is collected twice. A fifth less CPU a rollout at 256 wide (`npm run bench -- engine`).
 */
const YOUNG_GENERATION_MIB = 64

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
