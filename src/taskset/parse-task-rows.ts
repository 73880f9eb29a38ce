import { z } from 'zod'
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
    const parsed = rowSchema.safeParse(value, { reportInput: true })
    if (!parsed.success) {
      problems.push(...parsed.error.issues.flatMap(toProblems).map(problem => ({ place, problem })))
      continue
    }
    const task = toTask(parsed.data)
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

const object = z.record(z.string(), z.unknown())
const text = z.string().min(1)

/** Rows that HUD wrote may hold null where a field is not set. */
const plainFields = {
  env: text,
  id: text,
  args: object.nullish(),
  slug: text.nullish(),
  validation: z.array(object).nullish(),
  agent_config: object.nullish(),
  columns: object.nullish(),
  runtime_config: object.nullish(),
}
const FIELDS = [...Object.keys(plainFields), 'verifier']
/** A verifier is itself a task, without a verifier of its own. */
const verifierSchema = z.strictObject(plainFields)
const rowSchema = z.strictObject({ ...plainFields, verifier: verifierSchema.nullish() })

type Row = z.infer<typeof rowSchema>

function toTask(row: Row): Task {
  const args = row.args ?? {}
  return {
    env: row.env,
    id: row.id,
    args,
    slug: row.slug ?? defaultSlug(row.id, args),
    ...(row.validation ? { validation: row.validation } : {}),
    ...(row.agent_config ? { agent_config: row.agent_config } : {}),
    ...(row.columns ? { columns: row.columns } : {}),
    ...(row.runtime_config ? { runtime_config: row.runtime_config } : {}),
    ...(row.verifier ? { verifier: toTask(row.verifier) } : {}),
  }
}

function toProblems(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => {
      if (key === 'verifier') return '"verifier": a verifier has no verifier of its own'
      return `"${path === '' ? key : `${path}.${key}`}" is no field of a task (${FIELDS.join(', ')}); facets go under columns`
    })
  if (path === '') return [`a task is an object with "env" and "id", and this is ${describe(issue.input)}`]
  if (issue.code === 'invalid_type') return [`"${path}" must be ${article(issue.expected)}`]
  return [`"${path}" ${issue.code === 'too_small' ? 'is empty' : issue.message}`]
}

function article(type: string): string {
  if (type === 'record' || type === 'object') return 'an object'
  return type === 'array' ? 'a list' : `a ${type}`
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : article(typeof value)
}
