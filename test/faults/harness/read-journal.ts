import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/clock.ts'
import { toErrorData } from '../../../src/errors.ts'
import { openLmdbJournal } from '../../../src/journal/lmdb-journal.ts'

/** What a whole journal says: one line for each job, run (with its trajectory) and group, with a digest of all that is in it. */
export type JournalReading =
  | { readonly type: 'read'; readonly lines: readonly string[] }
  | { readonly type: 'refused'; readonly tag: string; readonly message: string }

/** Opens it as its owner, as a run that goes on does, and reads everything. */
export async function readJournal(directory: string): Promise<JournalReading> {
  try {
    const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
    try {
      const lines: string[] = []
      for (const job of await journal.jobs()) {
        lines.push(`job ${digest(job)}`)
        for await (const run of journal.runs(job.jobId))
          lines.push(`run ${run.runId} ${digest(run)} ${digest([...journal.trajectory(run.runId)])}`)
        for await (const group of journal.groups(job.jobId)) lines.push(`group ${group.groupId} ${digest(group)}`)
      }
      return { type: 'read', lines }
    } finally {
      await journal.close()
    }
  } catch (thrown) {
    const { tag, message } = toErrorData(thrown)
    return { type: 'refused', tag, message }
  }
}

/** The same in a process of its own, which may die of what is in the file; then it rejects. */
export async function readElsewhere(directory: string): Promise<JournalReading> {
  const program = fileURLToPath(new URL('./read-child.js', import.meta.url))
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    stdout += more
  })
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    stderr += more
  })
  const exit = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  if (stdout === '') throw new Error(`the reader died: ${exit} ${stderr}`)
  return JSON.parse(stdout) as JournalReading
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
