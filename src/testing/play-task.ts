import type { Agent } from '../agents/agent.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Environment } from '../environment/environment.ts'
import type { Run } from '../rollout/run.ts'
import type { Task } from '../taskset/task.ts'
import { Taskset } from '../taskset/taskset.ts'
import { noRun } from './errors.ts'
import { InProcessRuntime, type InProcessRuntimeOptions } from './in-process-runtime.ts'

/**
 * One whole rollout of a task, in the calling process and over the real wire: prompt, agent, grade. A run that failed is a result that says why, as
 * everywhere. Everything it started is ended when it resolves.
 */
export async function playTask(
  environment: Environment,
  task: Task,
  agent: Agent,
  options: InProcessRuntimeOptions = {},
): Promise<Run> {
  const runtime = new InProcessRuntime(environment, options)
  const job = await new Taskset(environment.name, [task]).run(createAgent(agent), { runtime, threads: 0, retries: 0 })
  try {
    const [run] = job.runs
    if (run === undefined) throw noRun(task.slug)
    return run
  } finally {
    await job.close()
  }
}
