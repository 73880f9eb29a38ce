import type { Writable } from 'node:stream'
import type { JobId } from '../ids.ts'
import { unknownJob } from './errors.ts'
import { type GroupsOptions, readGroups } from './export/groups.ts'
import { messages } from './export/messages.ts'
import { preferences } from './export/preferences.ts'
import { runs } from './export/runs.ts'
import type { ExportShape, ExportShapeName } from './export/shape.ts'
import { type ExportSink, withExportSink } from './export/sink.ts'
import { mergedTokens, tokens } from './export/tokens.ts'
import type { Journal } from './journal.ts'

export type ExportFormat = 'jsonl' | 'parquet'

export interface ExportOptions extends Partial<GroupsOptions> {
  readonly format: ExportFormat
  readonly to: Writable | string
  /**
   * What a row is. `runs` (default): a run with all that is kept of it. `messages`: a run as a conversation. `tokens`: a sample, with ids,
   * logprobs and mask. `preferences`: two attempts of a group of which one was better.
   */
  readonly shape?: ExportShapeName
  /** Of `tokens`: a row for turns that go on from each other, not for each of them. Default false. */
  readonly mergeTurns?: boolean
  /** Told of each row before it is written. */
  readonly onRow?: () => void
}

/**
 * Writes a job's durable runs in plan order, groups whole and side by side, as JSON lines, or as Parquet with typed columns; holds a group's
 * headers and a bounded batch of rows, however long the job is. Ungraded runs are kept by `runs`, with a null reward, and left out by
 * the other shapes unless `ungraded` says otherwise; so are the groups of evaluations. A stream is left open; a path gets its file when all
 * is written. Rejects with `unknown-job`, naming those there are, or `export-failed`.
 */
export async function exportRuns(
  journal: Journal,
  jobId: JobId,
  options: ExportOptions,
): Promise<{ readonly rows: number; readonly noun: string }> {
  const known = (await journal.jobs()).map(job => job.jobId)
  if (!known.includes(jobId)) throw unknownJob(journal.location, jobId, known)
  switch (options.shape ?? 'runs') {
    case 'runs':
      return write(journal, jobId, runs, options, 'keep')
    case 'messages':
      return write(journal, jobId, messages, options, 'leave-out')
    case 'tokens':
      return write(journal, jobId, options.mergeTurns === true ? mergedTokens : tokens, options, 'leave-out')
    case 'preferences':
      return write(journal, jobId, preferences, options, 'leave-out')
  }
}

async function write<Row>(
  journal: Journal,
  jobId: JobId,
  shape: ExportShape<Row>,
  options: ExportOptions,
  otherwise: GroupsOptions['ungraded'],
): Promise<{ readonly rows: number; readonly noun: string }> {
  const { format, to, ungraded = otherwise, evaluations = otherwise, onRow = () => {} } = options
  async function* rows(): AsyncGenerator<Row> {
    for await (const group of readGroups(journal, jobId, { ungraded, evaluations }))
      for await (const row of shape.rows(journal, group)) {
        onRow()
        yield row
      }
  }
  const count = await withExportSink(to, async sink => {
    if (format === 'jsonl') return writeJsonLines(rows(), sink)
    // Loaded by those who want it alone.
    const { writeParquet } = await import('./export/parquet.ts')
    return writeParquet(rows(), shape, sink)
  })
  return { rows: count, noun: shape.noun }
}

async function writeJsonLines(rows: AsyncIterable<unknown>, sink: ExportSink): Promise<number> {
  let count = 0
  for await (const row of rows) {
    await sink.write(`${JSON.stringify(row)}\n`)
    count += 1
  }
  return count
}
