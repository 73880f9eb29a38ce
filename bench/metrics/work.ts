import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import type { Job } from '../../src/job/job.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { NOOP_ENVIRONMENT, rollOutNoops } from '../engine/noop-round.ts'

/** What the rollouts do that are watched. */
export interface Work {
  readonly environment: string
  readonly width: number
  /** Rollouts before the measured ones, in rounds, in which code is compiled and processes start. */
  readonly warmUps: readonly number[]
  /** At least so many, in whole groups; returns how many. */
  readonly rollOut: (job: Job, name: string, rollouts: number) => Promise<number>
}

const GROUP = 8
/** Those that are not held out. */
const TASKS = 16
const calc = fileURLToPath(new URL('../../../environments/calc', import.meta.url))

/** `noop` does nothing, and so shows what there is to see; `calc` is what an engine is for: a sandbox, a shell and two pytests or more each. */
export const WORKS = {
  noop: {
    environment: NOOP_ENVIRONMENT,
    width: 256,
    warmUps: [512, 512, 512, 512],
    rollOut: rollOutNoops,
  },
  calc: {
    environment: join(calc, 'env.ts'),
    width: 64,
    warmUps: [32],
    rollOut: rollOutCalc,
  },
} satisfies Readonly<Record<string, Work>>

export type WorkName = keyof typeof WORKS

/** The same tasks each time, one after the other and again from the first, repaired by the agent without a model. Throws when one was not graded. */
async function rollOutCalc(job: Job, name: string, rollouts: number): Promise<number> {
  const { tasks } = (await Taskset.load(join(calc, 'tasks.ts'))).select([`0-${TASKS - 1}`])
  const groups = Math.ceil(rollouts / GROUP)
  const rounds = Array.from({ length: Math.ceil(groups / TASKS) }, () => tasks).flat()
  const taskset = new Taskset(
    name,
    rounds.slice(0, groups).map((task, index) => ({ ...task, slug: `${name}-${index}` })),
  )
  for await (const { runs } of job.stream(taskset, createAgent(join(calc, 'repairer.ts')), { group: GROUP }))
    for (const { reward, error } of runs)
      if (reward === null) throw new Error(`a calc run was not graded: ${JSON.stringify(error)}`)
  return groups * GROUP
}
