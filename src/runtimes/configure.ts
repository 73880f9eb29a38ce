import { keyOfRuntimeConfig, type RuntimeConfig, type RuntimeResources } from '../taskset/runtime-config.ts'
import type { Task } from '../taskset/task.ts'
import type { Runtime } from './runtime.ts'

/** True where the row asks for anything: an empty `runtime_config` does not. */
export function asksForSandbox({ runtime_config: config }: Task): boolean {
  return isGiven(config)
}

/** Sandboxes that are made for anybody are of no kind; those of rows that ask for something are told apart by what they ask for. */
export function kindOfRow(task: Task): string | undefined {
  return asksForSandbox(task) ? keyOfRuntimeConfig(task.runtime_config ?? {}) : undefined
}

function isGiven(field: unknown): boolean {
  if (typeof field === 'object' && field !== null) return Object.values(field).some(isGiven)
  return field !== undefined
}

/** What is wrong with asking that runtime for the task's sandbox. */
export function configurationProblems(runtime: Runtime, task: Task): readonly string[] {
  if (!asksForSandbox(task)) return []
  if (runtime.configure !== undefined) return runtime.configure(task).problems
  const fields = Object.keys(task.runtime_config ?? {}).map(name => `runtime_config.${name}`)
  return [
    `${fields.join(', ')}: the ${runtime.name} runtime makes all its sandboxes alike; leave it out, or use the docker or the daytona runtime, which apply it`,
  ]
}

/** Fields of resources that a runtime does not apply, and why not. */
export type Unapplied = Partial<Readonly<Record<keyof RuntimeResources, string>>>

/** Those of `unapplied` that the row asks for. */
export function unappliedResources({ resources }: RuntimeConfig, unapplied: Unapplied): readonly string[] {
  return Object.entries(resources ?? {}).flatMap(([name, value]) => {
    const why = Object.entries(unapplied).find(([key]) => key === name)?.[1]
    return value === undefined || why === undefined ? [] : [`runtime_config.resources.${name}: ${why}`]
  })
}
