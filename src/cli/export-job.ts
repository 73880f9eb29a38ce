import { exportRuns } from '../journal/export.ts'
import type { Cli } from './cli.ts'
import type { ExportArguments } from './commands/export.ts'
import { missingOption, unknownRecord } from './errors.ts'
import { findJob, readJobs, readJournal } from './journal-reader.ts'

export async function exportJob(text: string | undefined, options: ExportArguments, cli: Cli): Promise<void> {
  const { console, clock } = cli
  if (options.format === 'parquet' && options.out === undefined && 'isTTY' in console.stdout && console.stdout.isTTY)
    throw missingOption('--out', 'Parquet is binary and is not written to a terminal')
  await readJournal(options.journal, clock, async journal => {
    const job = text === undefined ? (await readJobs(journal))[0] : await findJob(journal, text)
    if (job === undefined) throw unknownRecord('job', 'newest', options.journal)
    const { runs } = await exportRuns(journal, job.jobId, { format: options.format, to: options.out ?? console.stdout })
    console.talk(`${runs} runs of ${job.jobId} written to ${options.out ?? 'stdout'}`)
  })
}
