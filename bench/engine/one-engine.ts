import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { makeBenchDirectory } from '../directory.ts'
import { type EngineCase, type EngineFigures, takeFigures } from './measure.ts'

const GROUP = 8
const WARM_UP_ROUNDS = 8
const WARM_UP_ROLLOUTS = 256
const environment = fileURLToPath(new URL('./noop-env.js', import.meta.url))
const agentFile = fileURLToPath(new URL('./noop-agent.js', import.meta.url))

/** Rollouts through the real engine: pool, threads, host process, journal, stream. A first round warms everything up. */
export async function measureEngine(bench: EngineCase): Promise<EngineFigures> {
  const { directory, remove } = await makeBenchDirectory()
  const runtime = new LocalRuntime(environment, { transport: 'tcp' })
  const quick = createAgent(agentFile, { waitMs: 0 })
  const agent = createAgent(agentFile, { waitMs: bench.waitMs })
  try {
    await using job = await Job.start('bench', { journal: join(directory, 'journal') })
    const round = async (name: string, rollouts: number, by = agent) => {
      const rows = Array.from({ length: Math.ceil(rollouts / GROUP) }, (_, index) => ({
        env: 'noop',
        id: 'noop',
        args: {},
        slug: `${name}-${index}`,
      }))
      const stream = job.stream(new Taskset(name, rows), by, {
        runtime,
        group: GROUP,
        maxConcurrent: bench.width,
        connections: bench.kind === 'each' ? 'each' : 'shared',
        deadlines: { rollout: 120_000 },
      })
      for await (const group of stream) {
        for (const run of group.runs)
          if (run.reward !== 1) throw new Error(`a no-op run failed: ${JSON.stringify(run.error)}`)
      }
      return rows.length * GROUP
    }
    // Starting processes and compiling are no part of how wide or fast an engine is. Small rounds, so that memory stays as it was.
    for (let at = 0; at < WARM_UP_ROUNDS; at += 1) await round(`warm-up-${at}`, WARM_UP_ROLLOUTS, quick)
    return await takeFigures(() => round('measured', bench.rollouts))
  } finally {
    remove()
  }
}
