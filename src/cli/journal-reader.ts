import { stat } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { type JobId, toRunId } from '../ids.ts'
import type { JobRecord, Journal } from '../journal/journal.ts'
import { openLmdbJournal } from '../journal/lmdb-journal.ts'
import type { DurableRun } from '../rollout/run.ts'
import { ambiguousRecord, noJournal, unknownRecord } from './errors.ts'

/** Opens a journal beside whoever writes it, for as long as `use` runs. Throws `no-journal`. */
export async function readJournal<Result>(
  directory: string,
  clock: Clock,
  use: (journal: Journal) => Promise<Result>,
): Promise<Result> {
  const found = await stat(directory).catch(() => undefined) // whatever the reason, there is none to read
  if (found === undefined) throw noJournal(directory)
  const journal = await openLmdbJournal({ directory, clock, role: 'owner', readOnly: true })
  try {
    return await use(journal)
  } finally {
    await journal.close()
  }
}

/** Newest first. */
export async function readJobs(journal: Journal): Promise<readonly JobRecord[]> {
  return [...(await journal.jobs())].sort((one, other) => other.startedAt - one.startedAt)
}

/** The job whose id is or begins with `text`. Throws `unknown-job`, `ambiguous-job`. */
export async function findJob(journal: Journal, text: string): Promise<JobRecord> {
  const jobs = await journal.jobs()
  return pick('job', text, journal, jobs, job => job.jobId)
}

/** The run whose id is or begins with `text`. Throws `unknown-run`, `ambiguous-run`. */
export async function findRun(journal: Journal, text: string): Promise<DurableRun> {
  const exact = await journal.run(toRunId(text))
  if (exact !== undefined) return exact
  const ids: string[] = []
  for (const { jobId } of await journal.jobs()) ids.push(...(await idsOf(journal, jobId)))
  const id = pick('run', text, journal, ids, each => each)
  const found = await journal.run(toRunId(id))
  if (found === undefined) throw unknownRecord('run', text, journal.location)
  return found
}

async function idsOf(journal: Journal, jobId: JobId): Promise<string[]> {
  const ids: string[] = []
  for await (const { runId } of journal.runs(jobId)) ids.push(runId)
  return ids
}

function pick<Item>(
  kind: 'run' | 'job',
  text: string,
  journal: Journal,
  items: readonly Item[],
  toId: (item: Item) => string,
): Item {
  const exact = items.find(item => toId(item) === text)
  if (exact !== undefined) return exact
  const [match, ...others] = items.filter(item => toId(item).startsWith(text))
  if (match === undefined) throw unknownRecord(kind, text, journal.location)
  if (others.length > 0) throw ambiguousRecord(kind, text, [match, ...others].map(toId))
  return match
}
