import type { Feed } from '../feed/feed.ts'
import { toRunId } from '../ids.ts'
import type { Job } from '../job/job.ts'
import type { Tokenizer } from '../policy/tokenizer.ts'
import { parseStepRecords, STEPS_PREFIX } from '../training/loop/marks.ts'
import { jobNotHere, runNotKept } from './errors.ts'
import type { DashboardSource } from './source.ts'

/** A job that this process runs. */
export function makeJobSource(
  job: Pick<Job, 'jobId' | 'name' | 'seed' | 'snapshot' | 'records' | 'findRun'>,
  feed: Feed,
  tokenizer: () => Promise<Tokenizer | undefined>,
): DashboardSource {
  return {
    async feed(jobId) {
      if (jobId !== undefined && jobId !== job.jobId)
        throw jobNotHere(jobId, `This is the dashboard of ${job.jobId}; \`troupe dashboard\` shows those of a journal.`)
      return feed
    },
    async findRun(id) {
      const found = await job.findRun(toRunId(id))
      if (found === undefined)
        throw runNotKept(
          id,
          'Runs can be read once they have ended, and as long as the job keeps them: a training without a journal keeps none. Give the whole id.',
        )
      return found
    },
    async jobs() {
      const { startedAt, finishedRuns, graded, rewardSum } = job.snapshot()
      const { jobId, name, seed } = job
      const steps = parseStepRecords(await job.records.list(STEPS_PREFIX)).length
      const meanReward = graded === 0 ? null : rewardSum / graded
      return { shown: jobId, jobs: [{ jobId, name, startedAt, seed, runs: finishedRuns, graded, meanReward, steps }] }
    },
    tokenizer,
  }
}
