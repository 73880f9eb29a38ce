import { isDeepStrictEqual } from 'node:util'
import type { JobRecord, Journal } from '../journal/journal.ts'

/** The key in a job's settings under which its planned number of groups stands, so that a later process knows what is missing. */
export const PLANNED_GROUPS = 'plannedGroups'

/** The newest job of this name and these settings of which fewer groups ended than were planned. */
export async function findUnfinishedJob(
  journal: Journal,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<JobRecord | undefined> {
  const planned = settings[PLANNED_GROUPS]
  if (typeof planned !== 'number') return undefined
  const alike = (await journal.jobs())
    .filter(job => job.name === name && isDeepStrictEqual({ ...job.settings }, { ...settings }))
    .sort((a, b) => b.startedAt - a.startedAt)
  for (const job of alike) {
    let ended = 0
    for await (const _ of journal.groups(job.jobId)) ended += 1
    if (ended < planned) return job
  }
  return undefined
}
