import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { loadModule } from '../modules/load-module.ts'
import {
  inexactNumber,
  malformedJson,
  noTasksExported,
  tasksNotFound,
  tasksNotRead,
  unsupportedTasks,
} from './errors.ts'
import { findInexactNumber } from './exact-numbers.ts'
import type { PlacedRow } from './parse-task-rows.ts'

/** What a tasks file says, before anything in it was checked. */
export interface ReadRows {
  readonly name: string
  readonly rows: readonly PlacedRow[]
  /** The environment's source: named by the module's taskset, or lying beside the file. */
  readonly environment?: string
  /** Of a taskset of HUD's platform. */
  readonly platformId?: string
}

const PLATFORM = 'hud:'
const MODULES = ['.ts', '.mts', '.js', '.mjs']

/**
 * Reads `.json` (one task or a list), `.jsonl`, a module (its default export or `tasks`: a Taskset, a list of tasks or one
 * task) or a directory with a file called tasks, modules before data; `hud:` and a name or id is a taskset of HUD's platform. Throws `tasks-not-found`, `tasks-not-read`,
 * `unsupported-tasks`, `malformed-json` and `inexact-number` (with file and line), `no-tasks-exported`, and what a module itself throws.
 */
export async function readRows(path: string): Promise<ReadRows> {
  if (path.startsWith(PLATFORM)) {
    const { fetchTaskset } = await import('../platform/fetch-taskset.ts')
    return fetchTaskset(path.slice(PLATFORM.length))
  }
  const file = await findTasksFile(path)
  const extension = extname(file)
  const name = toName(file)
  const beside = await firstFile(MODULES.map(ending => join(dirname(file), `env${ending}`)))
  const environment = beside === undefined ? {} : { environment: beside }
  if (extension === '.json') return { name, rows: toJsonRows(file, await readText(file)), ...environment }
  if (extension === '.jsonl') return { name, rows: toLineRows(file, await readText(file)), ...environment }
  const exported = readExport(file, await loadModule(resolve(file)))
  return {
    name: exported.name ?? name,
    rows: exported.rows.map((value, index) => ({ value, place: `${file}[${index}]` })),
    ...environment,
    ...(exported.environment === undefined ? {} : { environment: exported.environment }),
  }
}

async function findTasksFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined) // whatever the reason, there is nothing to read there
  if (found === undefined) throw tasksNotFound(path)
  if (!found.isDirectory()) {
    if (![...MODULES, '.json', '.jsonl'].includes(extname(path))) throw unsupportedTasks(path)
    return path
  }
  const file = await firstFile([...MODULES, '.json', '.jsonl'].map(ending => join(path, `tasks${ending}`)))
  if (file === undefined) throw tasksNotFound(path)
  return file
}

async function firstFile(candidates: readonly string[]): Promise<string | undefined> {
  for (const candidate of candidates) {
    const found = await stat(candidate).catch(() => undefined) // absent is an answer
    if (found?.isFile() === true) return candidate
  }
  return undefined
}

/** `environments/calc/tasks.ts` is the taskset calc, `bugs.jsonl` the taskset bugs. */
function toName(file: string): string {
  const stem = basename(file, extname(file))
  return stem === 'tasks' ? basename(dirname(resolve(file))) : stem
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw tasksNotRead(file, error)
  }
}

function toJsonRows(file: string, text: string): PlacedRow[] {
  const value = parseJson(text, offset => `${file}:${lineAt(text, offset)}`)
  if (!Array.isArray(value)) return [{ value, place: file }]
  return value.map((row: unknown, index) => ({ value: row, place: `${file}[${index}]` }))
}

function toLineRows(file: string, text: string): PlacedRow[] {
  return text
    .split('\n')
    .map((line, index) => ({ line, place: `${file}:${index + 1}` }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, place }) => ({ value: parseJson(line, () => place), place }))
}

function parseJson(text: string, place: (offset: number) => string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformedJson(place(offsetOf(text, error)), error)
  }
  const inexact = findInexactNumber(text)
  if (inexact !== undefined) throw inexactNumber(place(inexact.offset), inexact.digits)
  return value
}

/** V8 tells the offset in its message; a text that ends too early is wrong at its end. */
function offsetOf(text: string, error: unknown): number {
  const offset = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  return offset === undefined ? text.length : Number(offset)
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

interface Exported {
  readonly name?: string
  readonly rows: readonly unknown[]
  readonly environment?: string
}

function readExport(file: string, module: Readonly<Record<string, unknown>>): Exported {
  for (const value of [module.default, module.tasks]) {
    if (Array.isArray(value)) return { rows: value }
    if (typeof value !== 'object' || value === null) continue
    if ('tasks' in value && Array.isArray(value.tasks))
      return {
        rows: value.tasks,
        ...('name' in value && typeof value.name === 'string' ? { name: value.name } : {}),
        ...('environment' in value && typeof value.environment === 'string' ? { environment: value.environment } : {}),
      }
    if ('env' in value && 'id' in value) return { rows: [value] }
  }
  throw noTasksExported(file)
}
