import { badTaskRows, type RowProblem } from './errors.ts'
import {
  type Complain,
  type Fields,
  isObject,
  readList,
  readObject,
  readOptional,
  readPositive,
  readText,
} from './read-fields.ts'
import { readRuntimeConfig } from './read-runtime-config.ts'
import { defaultSlug } from './slug.ts'
import type { Task } from './task.ts'

/** A task as people and files write it: what has a default may be left out. */
export type TaskRow = Omit<Task, 'args' | 'slug' | 'verifier'> & {
  readonly args?: Task['args']
  readonly slug?: string
  readonly verifier?: TaskRow
}

/** A row nobody has looked at yet, and where it was written. */
export interface PlacedRow {
  readonly value: unknown
  /** `tasks.jsonl:3`, `tasks.json[2]`. */
  readonly place: string
}

/**
 * The one way in for tasks: every row checked, defaults filled in, slugs unique. Throws `bad-task-rows` with all that is
 * wrong at once.
 */
export function parseTaskRows(rows: readonly PlacedRow[]): readonly Task[] {
  const problems: RowProblem[] = []
  const tasks: Task[] = []
  const places = new Map<string, string>()
  for (const { value, place } of rows) {
    const before = problems.length
    const task = readRow(value, problem => problems.push({ place, problem }))
    if (task === undefined || problems.length > before) continue
    const earlier = places.get(task.slug)
    if (earlier !== undefined)
      problems.push({
        place,
        problem: `the slug "${task.slug}" is already taken by ${earlier}: give each row its own slug`,
      })
    else places.set(task.slug, place)
    tasks.push(task)
  }
  if (problems.length > 0) throw badTaskRows(problems)
  return tasks
}

function readRow(value: unknown, complain: Complain): Task | undefined {
  if (isObject(value)) return readTask(value, '', FIELDS, complain)
  complain(`a task is an object with "env" and "id", and this is ${describe(value)}`)
  return undefined
}

const FIELDS = 'env, id, args, slug, validation, agent_config, columns, runtime_config, verifier'.split(', ')
/** A verifier is itself a task, without a verifier of its own. */
const VERIFIER_FIELDS = FIELDS.filter(name => name !== 'verifier')

/** Undefined where something is wrong with the row. */
function readTask(row: Fields, at: string, known: readonly string[], complain: Complain): Task | undefined {
  const env = readText(row.env, `${at}env`, complain)
  const id = readText(row.id, `${at}id`, complain)
  const args = readOptional(row.args, `${at}args`, readObject, complain) ?? {}
  const slug = readOptional(row.slug, `${at}slug`, readText, complain)
  const validation = readOptional(row.validation, `${at}validation`, readObjects, complain)
  const agentConfig = readOptional(row.agent_config, `${at}agent_config`, readAgentConfig, complain)
  const columns = readOptional(row.columns, `${at}columns`, readObject, complain)
  const runtimeConfig = readOptional(row.runtime_config, `${at}runtime_config`, readRuntimeConfig, complain)
  const verifier = known === FIELDS ? readOptional(row.verifier, 'verifier', readVerifier, complain) : undefined
  for (const key of Object.keys(row)) if (!known.includes(key)) complain(unknownField(key, at))
  if (env === undefined || id === undefined) return undefined
  return {
    env,
    id,
    args,
    slug: slug ?? defaultSlug(id, args),
    ...(validation ? { validation } : {}),
    ...(agentConfig ? { agent_config: agentConfig } : {}),
    ...(columns ? { columns } : {}),
    ...(runtimeConfig ? { runtime_config: runtimeConfig } : {}),
    ...(verifier ? { verifier } : {}),
  }
}

function readObjects(value: unknown, path: string, complain: Complain): Fields[] | undefined {
  return readList(value, path, readObject, complain)
}

/** What an agent can be told is the agent's to say; that a limit on its time is a time is known here. */
function readAgentConfig(value: unknown, path: string, complain: Complain): Fields | undefined {
  const fields = readObject(value, path, complain)
  if (fields !== undefined) readOptional(fields.timeout_seconds, `${path}.timeout_seconds`, readPositive, complain)
  return fields
}

function readVerifier(value: unknown, path: string, complain: Complain): Task | undefined {
  if (isObject(value)) return readTask(value, `${path}.`, VERIFIER_FIELDS, complain)
  complain(`"${path}" must be an object`)
  return undefined
}

function unknownField(key: string, at: string): string {
  if (key === 'verifier') return '"verifier": a verifier has no verifier of its own'
  return `"${at}${key}" is no field of a task (${FIELDS.join(', ')}); facets go under columns`
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
