import type { AgentSpec } from '../agents/agent.ts'
import { resolveAgent } from '../agents/create-agent.ts'
import { toEngineSettings, toProvisionPlan } from '../assembly/settings.ts'
import { configurationProblems } from '../runtimes/configure.ts'
import type { ProvisionPlan, Runtime } from '../runtimes/runtime.ts'
import { type Task, toPlacedTasks } from '../taskset/task.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { badTasks, impossibleTasks } from './errors.ts'
import type { Deadlines, EngineOptions } from './options.ts'

/**
 * Everything that can be known to be wrong before a sandbox is paid for. Rejects with what the agent's module or the runtime's
 * own check throws, or with `bad-tasks`, which names every problem of every task. With a plan the runtime also checks that its account can hold it, and
 * readies what the tasks' sandboxes are made from; `deadlines` are those that somebody chose.
 */
export async function preflight(
  taskset: Taskset,
  agent: AgentSpec,
  runtime: Runtime,
  plan?: ProvisionPlan,
  deadlines: Partial<Deadlines> = {},
): Promise<void> {
  const { tasks } = taskset
  await resolveAgent(agent)
  const placed = toPlacedTasks(nameVerifiers(tasks))
  // Loaded here: a program that only names a job checks no rows.
  const [{ limitProblems }, { taskConfigProblems }] = await Promise.all([
    import('./check-limits.ts'),
    import('../agents/task-config.ts'),
  ])
  const early = [
    ...placed.flatMap(task => configurationProblems(runtime, task).map(problem => `${task.slug}: ${problem}`)),
    ...limitProblems(runtime, tasks, deadlines),
    ...(await taskConfigProblems(agent, tasks)),
  ]
  if (early.length > 0) throw impossibleTasks(early)
  await runtime.preflight(plan === undefined ? undefined : { ...plan, tasks: placed })
  const all = nameVerifiers(tasks).flatMap(task => (task.verifier === undefined ? [task] : [task, task.verifier]))
  const problems = (await runtime.checkTasks?.(all)) ?? []
  if (problems.length > 0) throw badTasks(runtime.name, problems)
}

/** What `runs` runs of a job with these options may ask of its runtime. Throws `bad-option`. */
export function planProvision(options: EngineOptions, runs?: number): ProvisionPlan {
  return toProvisionPlan(toEngineSettings(options), runs)
}

/** A problem with a verifier is told by the slug of its row. */
function nameVerifiers(tasks: readonly Task[]): readonly Task[] {
  return tasks.map(task =>
    task.verifier === undefined
      ? task
      : { ...task, verifier: { ...task.verifier, slug: `${task.slug}, its verifier` } },
  )
}
