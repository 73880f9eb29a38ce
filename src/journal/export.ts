import type { Writable } from 'node:stream'
import type { JobId } from '../ids.ts'
import { unpackTrajectory } from '../rollout/pack.ts'
import { runVanished, unknownJob } from './errors.ts'
import { writeParquet } from './export-parquet.ts'
import { type ExportRow, toExportRow } from './export-row.ts'
import { type ExportSink, withExportSink } from './export-sink.ts'
import type { Journal } from './journal.ts'

export type ExportFormat = 'jsonl' | 'parquet'

/**
 * Writes every durable run of a job, in plan order, one row a run: JSON lines, or Parquet with typed columns. A stream is left
 * open; a path gets its file when all is written. Rejects with `unknown-job`, naming those there are, or `export-failed`.
 */
export async function exportRuns(
  journal: Journal,
  jobId: JobId,
  options: { readonly format: ExportFormat; readonly to: Writable | string },
): Promise<{ readonly runs: number }> {
  const known = (await journal.jobs()).map(job => job.jobId)
  if (!known.includes(jobId)) throw unknownJob(journal.location, jobId, known)
  const write = options.format === 'jsonl' ? writeJsonLines : writeParquet
  return { runs: await withExportSink(options.to, sink => write(readRows(journal, jobId), sink)) }
}

async function* readRows(journal: Journal, jobId: JobId): AsyncGenerator<ExportRow> {
  for await (const { runId } of journal.runs(jobId)) {
    const found = await journal.run(runId)
    if (found === undefined) throw runVanished(journal.location, runId)
    yield toExportRow(found.header, unpackTrajectory(found.trajectory))
  }
}

async function writeJsonLines(rows: AsyncIterable<ExportRow>, sink: ExportSink): Promise<number> {
  let count = 0
  for await (const row of rows) {
    await sink.write(`${JSON.stringify(row)}\n`)
    count += 1
  }
  return count
}
