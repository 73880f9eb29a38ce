import type { AgentSpec } from '../../../src/agents/agent.ts'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { Environment, numericMatch, z } from '../../../src/environment/index.ts'
import { Job, type JobOptions } from '../../../src/job/job.ts'
import { createPlatformReporter, type PlatformReporterOptions } from '../../../src/platform/reporter.ts'
import type { Group } from '../../../src/rollout/group.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { InProcessRuntime } from '../../../src/testing/in-process-runtime.ts'
import type { PlatformServer, Trace } from './platform-server.ts'

const env = new Environment('sums', { version: '1.0.0' })

export const add = env.template(
  'add',
  { description: 'Add two whole numbers.', args: z.object({ a: z.int(), b: z.int() }) },
  async function* ({ a, b }) {
    const answer = yield `What is ${a} + ${b}?`
    yield numericMatch(answer, a + b)
  },
)

/** `count` sums. */
export function sums(count: number): Taskset {
  return new Taskset(
    'sums',
    Array.from({ length: count }, (_, index) => ({ env: 'sums', id: 'add', args: { a: index, b: 2 * index } })),
  )
}

/** Adds, and says so in a turn; of every odd sum it is wrong in every second attempt. `before` may hold it up. */
export function adder(before: (signal: AbortSignal) => Promise<void> = async () => {}) {
  return createAgent({
    name: 'adder',
    async run({ prompt, seed, record, signal }) {
      await before(signal)
      const [a = 0, b = 0] = (String(prompt).match(/\d+/g) ?? []).map(Number)
      const answer = String(a + b + (a % 2 === 1 && seed % 2 === 1 ? 1 : 0))
      record({ role: 'assistant', text: `it is ${answer}`, atMs: 1, tookMs: 2 })
      return { answer, stop: 'done' }
    },
  })
}

export function makeRuntime(): InProcessRuntime {
  return new InProcessRuntime(env, { isolation: 'none' })
}

/** A reporter that tells this server, and has time to do so on a machine that is busy. */
export function reporterFor(server: PlatformServer, options: PlatformReporterOptions = {}) {
  return createPlatformReporter({ env: server.variables, closeMs: 20_000, ...options })
}

/** A job of eight sums in groups of four, unless it is given others, from start to close. */
export async function runJob(options: JobOptions = {}, taskset = sums(8), agent: AgentSpec = adder()) {
  const job = await Job.start('reported', { runtime: makeRuntime(), threads: 0, seed: 3, group: 4, ...options })
  const groups: Group[] = []
  try {
    for await (const group of job.stream(taskset, agent)) groups.push(group)
  } finally {
    await job.close()
  }
  return { job, groups, rewards: rewardsOf(groups) }
}

/** By task, in member order: what a run of the same seed comes to, whoever listens. */
export function rewardsOf(groups: readonly Group[]): Readonly<Record<string, readonly (number | null)[]>> {
  const entries = groups.map(({ task, runs }) => [task.slug, runs.map(run => run.reward)] as const)
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The run of ours that a trace is of. */
export function runOf({ exits }: Trace): string {
  return String(exits.at(-1)?.metadata?.run)
}
