import type { Task } from '../taskset/task.ts'

/** A row of a taskset as the platform's export has it, in the fields of a task. */
export function fromPlatformRow(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { env, scenario, name, args, validation, agent_config, columns, runtime_config, verifier } = row
  return { env, id: scenario, slug: name, args, validation, agent_config, columns, runtime_config, verifier }
}

/** A task as the platform's upload wants it: named by its slug, with the bare id of its template and its environment by name. */
export function toUploadItem({ slug, env, id, ...rest }: Task): Readonly<Record<string, unknown>> {
  return { name: slug, env: { name: env }, task_id: id, ...rest }
}

/** Equal for two tasks of one slug that are the same in everything else, in whatever order their fields stand. */
export function contentOf({ slug: _slug, ...rest }: Task): string {
  return JSON.stringify(sorted(rest))
}

/** Keys in one order, at every depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}
