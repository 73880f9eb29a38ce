import type { Job } from '../job/job.ts'
import { hide } from '../redact.ts'
import type { FeedGroup, FeedRun } from './messages.ts'
import { toFeedGroup, toFeedRun } from './to-feed.ts'

/** What earlier processes have made of a job, in the order of its ends. */
export interface Earlier {
  readonly runs: readonly { readonly run: FeedRun; readonly tag: string | undefined }[]
  readonly groups: readonly FeedGroup[]
}

/** Groups read before others of this thread have a turn. */
const AT_ONCE = 100

/** Empty for a job that goes on with none. Rejects where the journal cannot be read. */
export async function readEarlier(job: Pick<Job, 'earlierGroups'>): Promise<Earlier> {
  const runs: Earlier['runs'][number][] = []
  const groups: FeedGroup[] = []
  for await (const group of job.earlierGroups()) {
    for (const header of group.runs) runs.push({ run: toFeedRun(header, { hide }), tag: header.error?.tag })
    groups.push(toFeedGroup(group, 0))
    if (groups.length % AT_ONCE === 0) await new Promise(resolve => setImmediate(resolve))
  }
  return {
    runs: runs.sort((one, other) => one.run.endedAt - other.run.endedAt),
    groups: groups.sort((one, other) => one.endedAt - other.endedAt),
  }
}
