import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { journalDamaged } from './errors.ts'

const PROGRAM = fileURLToPath(new URL('./check-main.js', import.meta.url))
const LONGEST_MS = 120_000

/**
 * Has another process look whether a journal whose file is shorter than it was holds all its entries: lmdb takes pages that are missing for data that is not there, or
 * takes its process down. Throws `journal-damaged`.
 */
export function checkElsewhere(directory: string): void {
  const { status, signal, stderr, error } = spawnSync(process.execPath, [PROGRAM, directory], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: LONGEST_MS,
  })
  if (status === 0) return
  const said = stderr.trim().split('\n').at(-1)
  const why = error?.message ?? (signal === null ? said : `reading it ends with ${signal}`)
  throw journalDamaged(directory, new Error(`its file was cut off, and ${why ?? 'it cannot be read'}`))
}
