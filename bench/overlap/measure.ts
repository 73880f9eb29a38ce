import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { train } from '../../src/training/loop/index.ts'
import { makeBenchDirectory } from '../directory.ts'
import type { Mode } from './bound.ts'
import type { StepDurations } from './durations.ts'
import type { Waits } from './waiting-agent.ts'
import { makeWaitingTrainer } from './waiting-trainer.ts'

const environment = fileURLToPath(new URL('./waiting-env.js', import.meta.url))
const agentFile = fileURLToPath(new URL('./waiting-agent.js', import.meta.url))

export const GROUP = 8
export const SEED = 1

export const taskset = new Taskset(
  'waiting',
  Array.from({ length: 16 }, (_, index) => ({ env: 'waiting', id: 'wait', args: {}, slug: `wait-${index}` })),
)

/** Milliseconds that the real loop takes for these steps: engine, journal, sessions and all, but for the agent's and the trainer's work. */
export async function measureMode(steps: readonly StepDurations[], mode: Mode): Promise<number> {
  const { directory, remove } = await makeBenchDirectory()
  const file = join(directory, 'waits.json')
  writeFileSync(file, JSON.stringify(toWaits(steps)))
  const trainer = makeWaitingTrainer(step => (steps[step]?.trainMs ?? 0) / (taskset.tasks.length * GROUP))
  try {
    await using job = await Job.start('overlap', {
      journal: join(directory, 'journal'),
      seed: SEED,
      runtime: new LocalRuntime(environment),
      maxConcurrent: taskset.tasks.length * GROUP,
    })
    // Threads and host start before the clock does.
    const quick = createAgent(agentFile, { file: writeEmpty(directory) })
    for await (const _ of job.stream(taskset, quick, { group: GROUP, step: 2_000_000 }));
    const training = train({
      job,
      taskset,
      agent: createAgent(agentFile, { file }),
      trainer,
      steps: steps.length,
      group: GROUP,
      chunk: { trajectories: mode.groupsPerCall * GROUP },
      order: mode.order,
      overlap: mode.overlap,
      maxPolicyLag: mode.maxPolicyLag,
      learningRate: 1e-5,
    })
    const startedAt = performance.now()
    const { steps: records } = await training.finish()
    const wallMs = performance.now() - startedAt
    for (const { groups, errored } of records)
      if (groups.trained !== taskset.tasks.length || errored > 0) throw new Error(JSON.stringify(records))
    return wallMs
  } finally {
    remove()
  }
}

/** Every other member of a group succeeds, so that each group has something to teach. */
function toWaits(steps: readonly StepDurations[]): Waits {
  return Object.fromEntries(
    steps.flatMap(({ groups }) =>
      groups.flatMap(members => members.map(({ seed, ms }, place) => [seed, [ms, place % 2]] as const)),
    ),
  )
}

function writeEmpty(directory: string): string {
  const file = join(directory, 'none.json')
  writeFileSync(file, '{}')
  return file
}
