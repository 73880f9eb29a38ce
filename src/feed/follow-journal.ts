import { type Clock, systemClock } from '../clock.ts'
import type { JobRecord, Journal } from '../journal/journal.ts'
import { type LmdbJournal, openLmdbJournal } from '../journal/lmdb-journal.ts'
import { connectFeed } from './connect.ts'
import { nothingToFollow } from './errors.ts'
import type { Feed } from './feed.ts'
import { followJob } from './follow-job.ts'
import { feedSocketPath } from './socket.ts'

/** Of `followJournal`. */
export interface FollowOptions {
  readonly clock?: Clock
  /** Which job. Default: the one that is being run, or else the newest. */
  readonly pick?: (journal: Journal) => Promise<JobRecord>
  /** Between two looks at the journal. Default 500. */
  readonly pollMs?: number
}

/** The feed of a job in somebody's journal. */
export interface FollowedFeed extends Feed {
  readonly job: JobRecord
  /** Open for reading until `close`. */
  readonly journal: LmdbJournal
}

/**
 * Follows a job by its journal's directory, beside whoever writes it: the running engine's own feed where it serves one, else what the journal has and gets. Rejects with
 * `journal-missing`, `nothing-to-follow` where it has no job yet, and with what `pick` rejects with.
 */
export async function followJournal(
  directory: string,
  { clock = systemClock, pick, pollMs }: FollowOptions = {},
): Promise<FollowedFeed> {
  const journal = await openLmdbJournal({ directory, clock, role: 'owner', readOnly: true })
  try {
    const job = await (pick ?? (each => pickRunning(each, clock)))(journal)
    const feed = followJob({ journal, job, clock, ...(pollMs === undefined ? {} : { pollMs }) })
    return {
      ...feed,
      job,
      journal,
      async close() {
        await feed.close()
        await journal.close()
      },
    }
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** The job that the engine beside the journal runs, or else the newest. Rejects with `nothing-to-follow`. */
export async function pickRunning(journal: Journal, clock: Clock): Promise<JobRecord> {
  const jobs = await journal.jobs()
  const newest = jobs.at(-1)
  if (newest === undefined) throw nothingToFollow(journal.location)
  if (jobs.length === 1) return newest
  const running = await askJob(feedSocketPath(journal.location), clock)
  return jobs.find(({ jobId }) => jobId === running) ?? newest
}

async function askJob(socket: string, clock: Clock): Promise<string | undefined> {
  try {
    for await (const message of connectFeed(socket, clock, new AbortController().signal))
      return message.type === 'state' ? message.job.jobId : undefined
  } catch {
    // Nobody is there, or nobody who can be understood: the newest job it is.
  }
  return undefined
}
