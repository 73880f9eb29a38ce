import type { JobRecord, Journal } from '../journal/journal.ts'
import { type JobLine, renderJobs, renderRuns } from '../report/render-lists.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { Cli } from './cli.ts'
import type { RunsArguments } from './commands/runs.ts'
import { findJob, readJobs, readJournal } from './journal-reader.ts'

export async function listJobs(options: RunsArguments, { console, clock }: Cli): Promise<void> {
  await readJournal(options.journal, clock, async journal => {
    const jobs = (await readJobs(journal)).slice(0, options.limit)
    const lines = await Promise.all(jobs.map(job => toLine(journal, job)))
    if (lines.length === 0) console.talk(`the journal ${options.journal} has no job yet`)
    else await console.print(options.json === true ? toJsonLines(lines) : renderJobs(lines))
  })
}

/** The runs of one job, or of all. */
export async function listRuns(
  job: string | undefined,
  options: RunsArguments,
  { console, clock }: Cli,
): Promise<void> {
  await readJournal(options.journal, clock, async journal => {
    const jobs = job === undefined ? await readJobs(journal) : [await findJob(journal, job)]
    const runs = await collect(journal, jobs, options)
    if (runs.length === 0) console.talk('no run fits')
    else await console.print(options.json === true ? toJsonLines(runs) : renderRuns(runs))
    if (runs.length === options.limit) console.talk(`only the first ${options.limit}; --limit shows more`)
  })
}

async function toLine(journal: Journal, { jobId, name, startedAt, seed }: JobRecord): Promise<JobLine> {
  let runs = 0
  let graded = 0
  let rewards = 0
  for await (const run of journal.runs(jobId)) {
    runs += 1
    if (run.reward === null) continue
    graded += 1
    rewards += run.reward
  }
  return { jobId, name, startedAt, seed, runs, graded, meanReward: graded === 0 ? null : rewards / graded }
}

async function collect(
  journal: Journal,
  jobs: readonly JobRecord[],
  { outcome, task, limit }: RunsArguments,
): Promise<RunHeader[]> {
  const runs: RunHeader[] = []
  for (const { jobId } of jobs)
    for await (const run of journal.runs(jobId)) {
      if (outcome !== undefined && run.outcome !== outcome) continue
      if (task !== undefined && run.task.slug !== task && run.task.id !== task) continue
      runs.push(run)
      if (runs.length === limit) return runs
    }
  return runs
}

function toJsonLines(items: readonly unknown[]): string {
  return items.map(item => JSON.stringify(item)).join('\n')
}
