import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import type { Job } from '../../src/job/job.ts'
import { Taskset } from '../../src/taskset/taskset.ts'

/** The environment that does nothing, for a runtime. */
export const NOOP_ENVIRONMENT = fileURLToPath(new URL('noop-env.js', import.meta.url))

/** What rollouts cost the engine's process, all its threads. */
export interface RolloutFigures {
  readonly perSecond: number
  /** CPU ms a rollout. */
  readonly cpuMs: number
}

/** Members of a group of no-op rollouts. */
export const GROUP = 8
const agentFile = fileURLToPath(new URL('noop-agent.js', import.meta.url))

/** `rollOut` returns how many there were. */
export async function measureRollouts(rollOut: () => Promise<number>): Promise<RolloutFigures> {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const done = await rollOut()
  const wallMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  return { perSecond: (done / wallMs) * 1_000, cpuMs: (user + system) / 1_000 / done }
}

/** What the agent does beside nothing: see noop-agent.ts. */
export interface NoopConfig {
  readonly waitMs?: number
  readonly spread?: number
  readonly turns?: number
}

/** Rolls out at least so many, whole groups. Returns how many there were; throws when one was not graded 1. */
export async function rollOutNoops(job: Job, name: string, rollouts: number, config: NoopConfig = {}): Promise<number> {
  const agent = createAgent(agentFile, { ...config })
  const rows = Array.from({ length: Math.ceil(rollouts / GROUP) }, (_, index) => ({
    env: 'noop',
    id: 'noop',
    args: {},
    slug: `${name}-${index}`,
  }))
  for await (const { runs } of job.stream(new Taskset(name, rows), agent, { group: GROUP }))
    for (const run of runs) if (run.reward !== 1) throw new Error(`a no-op run failed: ${JSON.stringify(run.error)}`)
  return rows.length * GROUP
}
