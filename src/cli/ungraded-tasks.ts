import type { Taskset } from '../taskset/taskset.ts'
import type { Cli } from './cli.ts'
import { nothingUngraded } from './errors.ts'
import { findJob, readJournal } from './journal-reader.ts'

/** The tasks of which a job has a run without a grade. Throws `no-journal`, `unknown-job`, `ambiguous-job`, `nothing-ungraded`, and `unknown-task` for one that is no more. */
export function selectUngraded(
  taskset: Taskset,
  { job, journal }: { readonly job: string; readonly journal: string },
  { clock }: Pick<Cli, 'clock'>,
): Promise<Taskset> {
  return readJournal(journal, clock, async open => {
    const { jobId } = await findJob(open, job)
    const slugs = new Set<string>()
    for await (const { reward, task } of open.runs(jobId)) if (reward === null) slugs.add(task.slug)
    if (slugs.size === 0) throw nothingUngraded(jobId)
    return taskset.select([...slugs])
  })
}
