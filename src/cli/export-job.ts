import type { Writable } from 'node:stream'
import { TroupeError } from '../errors.ts'
import { exportRuns } from '../journal/export.ts'
import type { Cli } from './cli.ts'
import type { ExportArguments } from './commands/export.ts'
import { conflictingOptions, missingOption, unknownRecord } from './errors.ts'
import { findJob, readJobs, readJournal } from './journal-reader.ts'
import { makeCounter } from './progress/counter.ts'
import { openTelling } from './telling.ts'

export async function exportJob(text: string | undefined, options: ExportArguments, outer: Cli): Promise<void> {
  const { quiet } = options
  const telling = openTelling(quiet === undefined ? {} : { quiet }, outer)
  const { console, clock } = telling.cli
  if (options.format === 'parquet' && options.out === undefined && isTerminal(console.stdout))
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
    const counter = makeCounter({ unit: 'rows', total: null, clock })
    // Rows on a terminal are seen themselves.
    const shown =
      out === undefined && isTerminal(console.stdout) ? undefined : telling.show(counter.view, { passing: true })
    try {
      const { rows, noun } = await exportRuns(journal, job.jobId, {
        format,
        shape,
        mergeTurns,
        ...(ungraded === undefined ? {} : { ungraded }),
        ...(evaluations === undefined ? {} : { evaluations }),
        to: out ?? console.stdout,
        onRow: () => counter.done(),
      })
      shown?.stop()
      console.talk(`${rows} ${noun} of ${job.jobId} written to ${out ?? 'stdout'}`)
    } catch (error) {
      // A reader such as `head` that has seen enough is not an error.
      if (out !== undefined || !isReaderGone(error)) throw error
    } finally {
      shown?.stop()
    }
  })
}

function isTerminal(stream: Writable): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}

function isReaderGone(error: unknown): boolean {
  const cause = error instanceof TroupeError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'EPIPE'
}
