import { nothingSelected } from './errors.ts'
import type { Task } from './task.ts'

/**
 * The tasks that `selectors` name, in the taskset's own order and each once. A selector is a slug, a template id (all its
 * tasks), an index from 0 or a range such as `0-15`; the first of these readings that fits is taken. Throws `unknown-task` with
 * every selector that names nothing.
 */
export function selectTasks(name: string, tasks: readonly Task[], selectors: readonly string[]): Task[] {
  const chosen = new Set<Task>()
  const problems: string[] = []
  for (const selector of selectors) {
    const matches = matchTasks(tasks, selector.trim())
    if (matches.length === 0) problems.push(`no task matches "${selector}"`)
    for (const task of matches) chosen.add(task)
  }
  if (selectors.length === 0) problems.push('no task was named')
  if (problems.length > 0)
    throw nothingSelected(
      name,
      problems,
      tasks.map(task => task.slug),
    )
  return tasks.filter(task => chosen.has(task))
}

function matchTasks(tasks: readonly Task[], selector: string): readonly Task[] {
  const bySlug = tasks.filter(task => task.slug === selector)
  if (bySlug.length > 0) return bySlug
  const byId = tasks.filter(task => task.id === selector)
  if (byId.length > 0) return byId
  const range = /^(\d+)(?:-(\d+))?$/.exec(selector)
  if (range?.[1] === undefined) return []
  const from = Number(range[1])
  const to = range[2] === undefined ? from : Number(range[2])
  // A range that reaches past the end is a mistake about the taskset, not a wish for fewer tasks.
  return to < tasks.length ? tasks.slice(from, to + 1) : []
}
