import type { RunHeader } from '../rollout/run.ts'
import { renderTable } from './table.ts'
import { decimal, duration, oneLine } from './units.ts'

/** One job as `troupe runs` lists it. */
export interface JobLine {
  readonly jobId: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly seed: number
  readonly runs: number
  readonly graded: number
  readonly meanReward: number | null
}

export function renderJobs(jobs: readonly JobLine[]): string {
  return renderTable(
    ['job', 'name', 'started (UTC)', 'seed', 'runs', 'graded', 'mean reward'],
    jobs.map(job => [
      job.jobId,
      oneLine(job.name, 24),
      moment(job.startedAt),
      job.seed,
      job.runs,
      job.graded,
      decimal(job.meanReward, 3),
    ]),
    { left: [0, 1, 2] },
  )
}

export function renderRuns(runs: readonly RunHeader[]): string {
  return renderTable(
    ['run', 'task', 'member', 'outcome', 'reward', 'took', 'tries'],
    runs.map(run => [
      run.runId,
      oneLine(run.task.slug, 24),
      run.member,
      run.outcome,
      decimal(run.reward),
      duration(run.endedAt - run.startedAt),
      run.attempt,
    ]),
    { left: [0, 1, 3] },
  )
}

/** `2025-01-31 12:34:56`, in UTC, so that a listing does not depend on where it is made. */
export function moment(sinceEpochMs: number): string {
  return new Date(sinceEpochMs).toISOString().slice(0, 19).replace('T', ' ')
}
