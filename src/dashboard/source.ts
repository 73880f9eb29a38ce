import type { Feed } from '../feed/feed.ts'
import type { Tokenizer } from '../policy/tokenizer.ts'
import type { Run } from '../rollout/run.ts'
import type { JobsReply } from './routes.ts'

/** What a dashboard shows: a job of this process, or those of a journal. */
export interface DashboardSource {
  /** Of the job that is shown unasked where none is named. Rejects with `job-not-here` or `too-many-watch`. */
  feed(jobId: string | undefined): Promise<Feed>
  /** By its id; the beginning of it is enough where the source can look for it. Rejects with `run-not-kept` or `run-ambiguous`. */
  findRun(id: string): Promise<Run>
  jobs(): Promise<JobsReply>
  /** Of the policy whose tokens the run has; undefined where nobody knows. */
  tokenizer(run: Run): Promise<Tokenizer | undefined>
}
