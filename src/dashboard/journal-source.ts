import type { Clock } from '../clock.ts'
import { tooManyWatch } from '../feed/errors.ts'
import type { Feed } from '../feed/feed.ts'
import { followJob } from '../feed/follow-job.ts'
import { toRunId } from '../ids.ts'
import type { JobRecord } from '../journal/journal.ts'
import type { LmdbJournal } from '../journal/lmdb-journal.ts'
import type { Tokenizer } from '../policy/tokenizer.ts'
import { toRun } from '../rollout/pack.ts'
import type { Run } from '../rollout/run.ts'
import { parseStepRecords, STEPS_PREFIX } from '../training/loop/marks.ts'
import { jobNotHere, runAmbiguous, runNotKept } from './errors.ts'
import type { JobReply, JobsReply } from './routes.ts'
import type { DashboardSource } from './source.ts'

export interface JournalSourceOptions {
  /** Stays the caller's to close. */
  readonly journal: LmdbJournal
  readonly clock: Clock
  /** The job that is shown unasked. */
  readonly job: JobRecord
  readonly tokenizer: (job: JobRecord) => Promise<Tokenizer | undefined>
}

/** Jobs followed at a time. */
const MOST_FEEDS = 8
const MOST_JOBS = 200
/** How long the list of jobs is not made again: all headers are read for it. */
const JOBS_MS = 5_000

/** The jobs of a journal, whoever writes it. `close` ends their feeds. */
export function makeJournalSource(options: JournalSourceOptions): DashboardSource & { close(): Promise<void> } {
  const { journal, clock, job: shown, tokenizer } = options
  const feeds = new Map<string, Feed>()
  let listed: { readonly at: number; readonly reply: Promise<JobsReply> } | undefined

  async function findJob(jobId: string): Promise<JobRecord> {
    const job = (await journal.jobs()).find(each => each.jobId === jobId)
    if (job === undefined) throw jobNotHere(jobId, `\`troupe runs\` lists the jobs of ${journal.location}.`)
    return job
  }

  async function list(): Promise<JobsReply> {
    const newest = [...(await journal.jobs())].reverse().slice(0, MOST_JOBS)
    const jobs: JobReply[] = []
    for (const job of newest) jobs.push(await toJobReply(journal, job))
    return { shown: shown.jobId, jobs }
  }

  return {
    async feed(jobId = shown.jobId) {
      const known = feeds.get(jobId)
      if (known !== undefined) return known
      const job = await findJob(jobId)
      for (const [id, feed] of feeds) {
        if (feeds.size < MOST_FEEDS) break
        if (feed.isWatched()) continue
        feeds.delete(id)
        await feed.close()
      }
      if (feeds.size >= MOST_FEEDS) throw tooManyWatch(MOST_FEEDS)
      // Another request may have made it meanwhile.
      const feed = feeds.get(jobId) ?? followJob({ journal, job, clock })
      feeds.set(jobId, feed)
      return feed
    },
    async findRun(id) {
      const exact = await journal.run(toRunId(id))
      if (exact !== undefined) return toRun(exact.header, exact.trajectory)
      const ids = id === '' ? [] : await idsBeginningWith(journal, id)
      const [first, ...others] = ids
      if (first === undefined) throw runNotKept(id, `\`troupe runs JOB\` lists those of ${journal.location}.`)
      if (others.length > 0) throw runAmbiguous(id, ids)
      return toRunById(journal, first)
    },
    jobs() {
      if (listed === undefined || clock.now() - listed.at >= JOBS_MS) listed = { at: clock.now(), reply: list() }
      const { reply } = listed
      reply.catch(() => {
        listed = undefined
      })
      return reply
    },
    async tokenizer(run) {
      return tokenizer(await findJob(run.jobId))
    },
    async close() {
      for (const feed of feeds.values()) await feed.close()
      feeds.clear()
    },
  }
}

async function toRunById(journal: LmdbJournal, id: string): Promise<Run> {
  const found = await journal.run(toRunId(id))
  if (found === undefined) throw runNotKept(id, 'It was there a moment ago: the journal is being replaced.')
  return toRun(found.header, found.trajectory)
}

/** More are not told. */
const ENOUGH = 5

async function idsBeginningWith(journal: LmdbJournal, text: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (const { jobId } of await journal.jobs())
    for (const { runId } of journal.news.unseenRuns(jobId, runId => !runId.startsWith(text))) {
      ids.push(runId)
      if (ids.length >= ENOUGH) return ids
    }
  return ids
}

async function toJobReply(journal: LmdbJournal, { jobId, name, startedAt, seed }: JobRecord): Promise<JobReply> {
  let runs = 0
  let graded = 0
  let rewards = 0
  for await (const { reward } of journal.runs(jobId)) {
    runs += 1
    if (reward === null) continue
    graded += 1
    rewards += reward
  }
  const records = new Map<string, unknown>()
  for await (const { key, value } of journal.records(jobId, STEPS_PREFIX)) records.set(key, value)
  const steps = parseStepRecords(records).length
  return { jobId, name, startedAt, seed, runs, graded, meanReward: graded === 0 ? null : rewards / graded, steps }
}
