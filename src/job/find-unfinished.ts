import { isDeepStrictEqual } from 'node:util'
import type { JobRecord, Journal } from '../journal/journal.ts'

/** The key in a job's settings under which its planned number of groups stands, so that a later process knows what is missing. */
export const PLANNED_GROUPS = 'plannedGroups'

/** Likewise, for jobs of several steps: the keys of the records without which the job is not over. */
export const FINAL_RECORDS = 'finalRecords'

/**
 * The newest job of this name and these settings that is not over: of which fewer groups ended than were planned or, where the
 * settings name final records, that lacks one of those. Settings that say neither find none.
 */
export async function findUnfinishedJob(
  journal: Journal,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<JobRecord | undefined> {
  const alike = (await journal.jobs())
    .filter(job => job.name === name && isDeepStrictEqual({ ...job.settings }, { ...settings }))
    .sort((a, b) => b.startedAt - a.startedAt)
  for (const job of alike) if (await isUnfinished(journal, job)) return job
  return undefined
}

/** Whether its settings name groups or records that the journal does not have yet. */
export async function isUnfinished(journal: Journal, { jobId, settings }: JobRecord): Promise<boolean> {
  const finals: unknown = settings[FINAL_RECORDS]
  if (Array.isArray(finals)) {
    const missing = new Set<unknown>(finals)
    for await (const { key } of journal.records(jobId, '')) missing.delete(key)
    return missing.size > 0
  }
  const planned = settings[PLANNED_GROUPS]
  if (typeof planned !== 'number') return false
  let ended = 0
  for await (const _ of journal.groups(jobId)) ended += 1
  return ended < planned
}
