import { badTaskRows, type RowProblem } from './errors.ts'
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

type Fields = Readonly<Record<string, unknown>>
type Complain = (problem: string) => void

const FIELDS = 'env, id, args, slug, validation, agent_config, columns, runtime_config, verifier'.split(', ')
/** A verifier is itself a task, without a verifier of its own. */
const VERIFIER_FIELDS = FIELDS.filter(name => name !== 'verifier')

/** Without a schema, so that a program that only makes a taskset loads no library for it. Undefined where something is wrong with the row. */
function readTask(row: Fields, at: string, known: readonly string[], complain: Complain): Task | undefined {
  const env = readText(row.env, `${at}env`, complain)
  const id = readText(row.id, `${at}id`, complain)
  const args = readOptional(row.args, `${at}args`, readObject, complain) ?? {}
  const slug = readOptional(row.slug, `${at}slug`, readText, complain)
  const validation = readOptional(row.validation, `${at}validation`, readObjects, complain)
  const agentConfig = readOptional(row.agent_config, `${at}agent_config`, readObject, complain)
  const columns = readOptional(row.columns, `${at}columns`, readObject, complain)
  const runtimeConfig = readOptional(row.runtime_config, `${at}runtime_config`, readObject, complain)
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

type Read<Value> = (value: unknown, path: string, complain: Complain) => Value | undefined

/** Rows that HUD wrote may hold null where a field is not set. */
function readOptional<Value>(value: unknown, path: string, read: Read<Value>, complain: Complain): Value | undefined {
  return value === undefined || value === null ? undefined : read(value, path, complain)
}

function readText(value: unknown, path: string, complain: Complain): string | undefined {
  if (typeof value !== 'string') complain(`"${path}" must be a string`)
  else if (value === '') complain(`"${path}" is empty`)
  else return value
  return undefined
}

/** A copy: what the row's owner changes later changes no task. */
function readObject(value: unknown, path: string, complain: Complain): Fields | undefined {
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'))
  complain(`"${path}" must be an object`)
  return undefined
}

function readObjects(value: unknown, path: string, complain: Complain): Fields[] | undefined {
  if (Array.isArray(value))
    return value
      .map((item: unknown, index) => readObject(item, `${path}.${index}`, complain))
      .filter(item => item !== undefined)
  complain(`"${path}" must be a list`)
  return undefined
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

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** As JSON makes them, whichever realm they come from. */
function isPlain(value: unknown): value is Fields {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
