/** What can be wrong with a taskset, in words. Nothing has been started when one of these is thrown. */
import { type ErrorData, TroupeError } from '../errors.ts'

/** One thing that is wrong, and where: `tasks.jsonl:3`, `tasks.json[2]`. */
export interface RowProblem {
  readonly place: string
  readonly problem: string
}

export function badTaskRows(problems: readonly RowProblem[]): TroupeError {
  const lines = problems.map(({ place, problem }) => `${place}: ${problem}`)
  return new TroupeError({
    tag: 'bad-task-rows',
    message: `${count(problems.length, 'problem')} in the tasks:\n  ${lines.join('\n  ')}\nCorrect ${problems.length === 1 ? 'it' : 'them'} and start again; nothing was run.`,
    details: { problems },
    ...(problems[0] === undefined ? {} : { address: problems[0].place }),
  })
}

export function emptyTaskset(name: string): TroupeError {
  return tasksetError('empty-taskset', name, `the taskset "${name}" has no task. Add at least one row or task to it.`)
}

export function tasksNotFound(path: string): TroupeError {
  return tasksetError(
    'tasks-not-found',
    path,
    `there are no tasks at ${path}. Name a .ts, .js, .json or .jsonl file, or a directory that holds one called tasks.`,
  )
}

export function unsupportedTasks(path: string): TroupeError {
  return tasksetError(
    'unsupported-tasks',
    path,
    `${path} is not a file that tasks are read from. Use .ts, .mts, .js, .mjs, .json, .jsonl or a directory.`,
  )
}

export function tasksNotRead(path: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'tasks-not-read',
      address: path,
      message: `${path} could not be read: ${why}. Check the path and its permissions.`,
    },
    cause,
  )
}

export function malformedJson(place: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'malformed-json',
      address: place,
      message: `${place}: this is not JSON (${why}). Correct it and start again.`,
    },
    cause,
  )
}

export function inexactNumber(place: string, digits: string): TroupeError {
  return tasksetError(
    'inexact-number',
    place,
    `${place}: the whole number ${digits} would be rounded to ${String(Number(digits))} here, where numbers are doubles. Write it as text, and read it as a number in the environment.`,
  )
}

export function unsupportedRows(path: string): TroupeError {
  return tasksetError(
    'unsupported-tasks',
    path,
    `${path}: rows are written to .json or .jsonl. Choose one of these endings.`,
  )
}

export function tasksNotWritten(path: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `${path} could not be written: ${why}. Check the directory and its permissions.`
  return new TroupeError({ tag: 'tasks-not-written', address: path, message }, cause)
}

export function noTasksExported(path: string): TroupeError {
  return tasksetError(
    'no-tasks-exported',
    path,
    `${path} exports no tasks. Export a Taskset or a list of tasks as the default, or under the name "tasks".`,
  )
}

export function nothingSelected(name: string, problems: readonly string[], slugs: readonly string[]): TroupeError {
  const shown = slugs.slice(0, 5).join(', ')
  const more = slugs.length > 5 ? `, … (${slugs.length} in all)` : ''
  return new TroupeError({
    tag: 'unknown-task',
    address: name,
    message: `${problems.join('; ')}. The taskset "${name}" has: ${shown}${more}. Select by slug, template id, index or range such as 0-15.`,
    details: { problems },
  })
}

export function badGroupSize(group: number): TroupeError {
  return tasksetError(
    'bad-group-size',
    undefined,
    `a group of ${group} is not possible: the group size is a whole number from 1 up.`,
  )
}

function tasksetError(tag: string, address: string | undefined, message: string): TroupeError {
  const data: ErrorData = { tag, message, ...(address === undefined ? {} : { address }) }
  return new TroupeError(data)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
