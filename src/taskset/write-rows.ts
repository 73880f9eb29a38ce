import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { tasksNotWritten, unsupportedRows } from './errors.ts'
import type { Task } from './task.ts'

/**
 * Writes tasks as rows that every reader of HUD's rows takes: a list in `.json`, one a line in `.jsonl`. Rejects with `unsupported-tasks` for another
 * ending and with `tasks-not-written`.
 */
export async function writeRows(path: string, tasks: readonly Task[]): Promise<void> {
  const text = toText(path, tasks)
  try {
    await writeFile(path, text)
  } catch (error) {
    throw tasksNotWritten(path, error)
  }
}

/** The text of such a file. Throws `unsupported-tasks`. */
export function toText(path: string, tasks: readonly Task[]): string {
  switch (extname(path)) {
    case '.json':
      return `${JSON.stringify(tasks, undefined, 2)}\n`
    case '.jsonl':
      return tasks.map(task => `${JSON.stringify(task)}\n`).join('')
    default:
      throw unsupportedRows(path)
  }
}
