import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import pLimit from 'p-limit'
import { calcSource } from '../environments/calc/functions.ts'
import { testSource } from '../environments/calc/tests.ts'
import { createAgent } from '../src/agents/create-agent.ts'
import { Job } from '../src/job/job.ts'
import { LocalRuntime } from '../src/runtimes/local.ts'
import { Taskset } from '../src/taskset/taskset.ts'
import { makeBenchDirectory } from './directory.ts'
import type { BenchTable } from './table.ts'

const GROUP = 8
const SEED = 1
const calc = fileURLToPath(new URL('../../environments/calc', import.meta.url))

/**
 * The main job (variants of the calc task, a real pytest each time) beside the bare cost of the same pytest runs: as many of
 * them, on the same files, as many at once as there are cores, without sandboxes, threads, wire or journal.
 */
export async function rolloutsBench({ quick }: { readonly quick: boolean }): Promise<BenchTable> {
  const { directory, remove } = await makeBenchDirectory()
  try {
    const taskset = (await Taskset.load(join(calc, 'tasks.ts'))).select([quick ? '0-3' : '0-15'])
    const agent = createAgent(join(calc, 'repairer.ts'))
    const startedAt = performance.now()
    const job = await Job.start('rollouts', { journal: join(directory, 'journal'), seed: SEED })
    try {
      const runtime = new LocalRuntime(join(calc, 'env.ts'))
      let failed = 0
      for await (const group of job.stream(taskset, agent, { runtime, group: GROUP, maxConcurrent: 128 }))
        failed += group.runs.filter(run => run.outcome !== 'graded').length
      await job.stopEngines()
      const wallMs = performance.now() - startedAt
      const { runs } = job
      const snapshot = job.snapshot()
      // Every rollout ends with the grader's own run; the agent's are in its trajectory.
      const pytestRuns = runs.reduce(
        (sum, run) => sum + 1 + run.trajectory.turns.filter(turn => turn.text.includes('-m pytest')).length,
        0,
      )
      const bareMs = await runBarePytest(join(directory, 'bare'), pytestRuns)
      return {
        title: `rollouts: ${runs.length} graded attempts at calc, a sandbox and a pytest each`,
        rows: [
          {
            name: 'wall time',
            value: wallMs / 1_000,
            unit: 's',
            reference: `${pytestRuns} bare pytest runs`,
            ratio: wallMs / bareMs,
          },
          { name: 'bare pytest', value: bareMs / 1_000, unit: 's' },
          { name: 'rollouts', value: (runs.length / wallMs) * 1_000, unit: '/s' },
          { name: 'not graded', value: failed, unit: 'runs', aim: '0', met: failed === 0 },
          { name: 'engine CPU', value: snapshot.engineCpuMs / runs.length, unit: 'ms a rollout' },
          { name: 'engine RSS, peak', value: snapshot.peakRssBytes / 2 ** 20, unit: 'MiB' },
        ],
      }
    } finally {
      await job.close()
    }
  } finally {
    remove()
  }
}

async function runBarePytest(directory: string, runs: number): Promise<number> {
  const limit = pLimit(availableParallelism())
  mkdirSync(directory)
  writeFileSync(join(directory, 'calc.py'), calcSource([]))
  writeFileSync(join(directory, 'test_calc.py'), testSource)
  const one = () =>
    execa('/usr/bin/python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
      cwd: directory,
      env: { PATH: '/usr/bin:/bin', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1', PYTHONDONTWRITEBYTECODE: '1' },
      extendEnv: false,
      reject: false,
    })
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: runs }, () => limit(one)))
  return performance.now() - startedAt
}
