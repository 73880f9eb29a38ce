import { TroupeError } from '../errors.ts'
import { exportRuns } from '../journal/export.ts'
import type { Cli } from './cli.ts'
import type { ExportArguments } from './commands/export.ts'
import { conflictingOptions, missingOption, unknownRecord } from './errors.ts'
import { findJob, readJobs, readJournal } from './journal-reader.ts'

export async function exportJob(text: string | undefined, options: ExportArguments, cli: Cli): Promise<void> {
  const { console, clock } = cli
  if (options.format === 'parquet' && options.out === undefined && 'isTTY' in console.stdout && console.stdout.isTTY)
    throw missingOption('--out', 'Parquet is binary and is not written to a terminal')
  if (options.mergeTurns === true && options.shape !== 'tokens')
    throw conflictingOptions('--merge-turns', `--shape ${options.shape}`, 'only samples of tokens are made of turns')
  if (options.ungraded === 'keep' && options.shape === 'preferences')
    throw conflictingOptions(
      '--ungraded keep',
      '--shape preferences',
      'a run without a reward is neither better nor worse',
    )
  await readJournal(options.journal, clock, async journal => {
    const job = text === undefined ? (await readJobs(journal))[0] : await findJob(journal, text)
    if (job === undefined) throw unknownRecord('job', 'newest', options.journal)
    const { format, shape, ungraded, evaluations, mergeTurns = false, out } = options
    try {
      const { rows, noun } = await exportRuns(journal, job.jobId, {
        format,
        shape,
        mergeTurns,
        ...(ungraded === undefined ? {} : { ungraded }),
        ...(evaluations === undefined ? {} : { evaluations }),
        to: out ?? console.stdout,
      })
      console.talk(`${rows} ${noun} of ${job.jobId} written to ${out ?? 'stdout'}`)
    } catch (error) {
      // A reader such as `head` that has seen enough is not an error.
      if (out !== undefined || !isReaderGone(error)) throw error
    }
  })
}

function isReaderGone(error: unknown): boolean {
  const cause = error instanceof TroupeError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'EPIPE'
}
