import { extname } from 'node:path'
import type { Task } from '../taskset/task.ts'
import { toText } from '../taskset/write-rows.ts'
import { notExportable } from './errors.ts'

/** Tasks as the text of a file, in the form that its ending names: `.json`, `.jsonl`, or `.csv` for spreadsheets. Rejects with `unsupported-export`. */
export async function renderTasks(file: string, tasks: readonly Task[]): Promise<string> {
  const ending = extname(file).toLowerCase()
  if (!['.json', '.jsonl', '.csv'].includes(ending)) throw notExportable(file)
  return ending === '.csv' ? toCsv(tasks) : toText(file.toLowerCase(), tasks)
}

/** A column for each argument that any of them has, nested ones as JSON. What else a task has does not fit a sheet. */
async function toCsv(tasks: readonly Task[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync')
  const names = [...new Set(tasks.flatMap(({ args }) => Object.keys(args)))].sort()
  return stringify([
    ['slug', 'id', 'env', ...names.map(name => `arg:${name}`)],
    ...tasks.map(({ slug, id, env, args }) => [slug, id, env, ...names.map(name => toCell(args[name]))]),
  ])
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
