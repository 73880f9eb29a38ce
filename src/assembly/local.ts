import { toErrorData } from '../errors.ts'
import { type Engine, type EnginePorts, startEngine } from './engine.ts'
import type { EngineSettings } from './settings.ts'
import { startShard } from './shard.ts'

/** Everything in the calling thread: no worker starts, and an agent may be a closure. */
export function startLocalEngine(settings: EngineSettings, ports: EnginePorts): Engine {
  return startEngine(settings, ports, (system, supervisor, data, held) => {
    const node = 'main'
    const started = startShard(system, data, held).then(
      root => void supervisor.tell({ type: 'shard-up', node, root }),
      thrown =>
        void supervisor.tell({ type: 'shard-down', node, error: { ...toErrorData(thrown), tag: 'threads-failing' } }),
    )
    // The shard is an actor of this system and stops with it, before the actors it talks to.
    return { close: () => started }
  })
}
