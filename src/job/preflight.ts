import type { AgentSpec } from '../agents/agent.ts'
import { resolveAgent } from '../agents/create-agent.ts'
import { toEngineSettings, toProvisionPlan } from '../assembly/settings.ts'
import type { ProvisionPlan, Runtime } from '../runtimes/runtime.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { badTasks } from './errors.ts'
import type { EngineOptions } from './options.ts'

/**
 * Everything that can be known to be wrong before a sandbox is paid for. Rejects with what the agent's module or the runtime's
 * own check throws, or with `bad-tasks`, which names every problem of every task. With a plan the runtime also checks that its account can hold it.
 */
export async function preflight(
  taskset: Taskset,
  agent: AgentSpec,
  runtime: Runtime,
  plan?: ProvisionPlan,
): Promise<void> {
  await resolveAgent(agent)
  await runtime.preflight(plan)
  const problems = (await runtime.checkTasks?.(taskset.tasks)) ?? []
  if (problems.length > 0) throw badTasks(runtime.name, problems)
}

/** What `runs` runs of a job with these options may ask of its runtime. Throws `bad-option`. */
export function planProvision(options: EngineOptions, runs?: number): ProvisionPlan {
  return toProvisionPlan(toEngineSettings(options), runs)
}
