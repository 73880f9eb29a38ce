import type { Clock } from '../clock.ts'
import type { FeedPrices } from '../feed/open-feed.ts'
import type { Job } from '../job/job.ts'

/** Of `serveDashboard`. */
export interface DashboardOptions {
  /** Where to listen. Default 127.0.0.1; beyond loopback a token is wanted of everybody. */
  readonly host?: string
  /** Default: any that is free. */
  readonly port?: number
  /** 16 characters at least. Default: none on loopback, and elsewhere one that nobody can guess; the URL has it. */
  readonly token?: string
  /** What a sandbox costs. Without, no cost is shown. */
  readonly prices?: FeedPrices
  /** Directories with ladder receipts, beside `bench/receipts` of the working directory. */
  readonly receipts?: readonly string[]
  readonly clock?: Clock
}

/** A web page that shows a job. */
export interface Dashboard {
  /** What to open in a browser. */
  readonly url: string
  /** Tells the page that the job is over: it keeps what it has, and is told no more. */
  over(): void
  /** Ends the server. The job goes on, if it still runs. Twice is once. */
  close(): Promise<void>
}

/**
 * Serves a page that shows that job from now on: call it before the job's first run, and close it before the job, whose runs it reads. Nothing can be changed through it. `troupe
 * train --dashboard` serves the same. Rejects with `dashboard-port-taken`, `dashboard-not-served` or `dashboard-token-short`.
 */
export async function serveDashboard(job: Job, options: DashboardOptions = {}): Promise<Dashboard> {
  // Loaded when it is first used: most programs that import the library serve no page.
  const { openJobDashboard } = await import('./job-dashboard.ts')
  return openJobDashboard(job, options)
}
