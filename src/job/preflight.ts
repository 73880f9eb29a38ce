import type { AgentSpec } from '../agents/agent.ts'
import { resolveAgent } from '../agents/create-agent.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { badTasks } from './errors.ts'

/**
 * Everything that can be known to be wrong before a sandbox is paid for. Rejects with what the agent's module or the runtime's
 * own check throws, or with `bad-tasks`, which names every problem of every task.
 */
export async function preflight(taskset: Taskset, agent: AgentSpec, runtime: Runtime): Promise<void> {
  await resolveAgent(agent)
  await runtime.preflight()
  const problems = (await runtime.checkTasks?.(taskset.tasks)) ?? []
  if (problems.length > 0) throw badTasks(runtime.name, problems)
}
