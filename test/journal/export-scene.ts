import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { toJobId } from '../../src/ids.ts'
import type { ExportOptions } from '../../src/journal/export.ts'
import { exportRuns, type Journal, openMemoryJournal } from '../../src/journal/index.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import type { Trajectory, Turn, TurnTokens } from '../../src/rollout/trajectory.ts'
import { makeHeader } from './fixtures.ts'
import { withDirectory } from './temporary.ts'

export const jobId = toJobId('job-1')
const PYTHON = '/usr/bin/python3'

export function tokens(prompt: readonly number[], output: readonly number[]): TurnTokens {
  // Halves are the same in 32 bits as in 64.
  const logprobs = Float32Array.from(output, (_, place) => -(place + 1) / 2)
  return { prompt: Uint32Array.from(prompt), output: Uint32Array.from(output), logprobs }
}

export const said = (text: string, more: Partial<Turn> = {}): Turn => ({
  role: 'assistant',
  text,
  atMs: 0,
  tookMs: 1,
  ...more,
})
export const called = (command: string, result: string): Turn => ({
  role: 'tool',
  text: '',
  toolCalls: [{ name: 'bash', arguments: { command }, result, isError: false }],
  atMs: 0,
  tookMs: 1,
})

/** As the chat agent records: two calls of one message, then the last word. Its second prompt goes on from the first turn. */
export function makeTrajectory(answer: string, version = 'v1'): Trajectory {
  return {
    prompt: 'Repair calc.py',
    turns: [
      said('I look – naïve ✓', { tokens: tokens([1, 2], [3, 4]), version }),
      called('ls', 'calc.py'),
      called('cat calc.py', 'def add'),
      said(answer, { tokens: tokens([1, 2, 3, 4, 9, 9, 9], [5]), version }),
    ],
    answer,
    grade: { score: 1 },
  }
}

/** Two groups: one of rewards 1, none, 0 and 0.5, and one that agrees. And a group that only measured. */
export async function makeJournal(): Promise<Journal> {
  const journal = openMemoryJournal()
  await journal.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
  const put = (given: Parameters<typeof makeHeader>[0], trajectory: Trajectory) =>
    journal.putRun(makeHeader(given), packTrajectory(trajectory))
  const lost = { prompt: null, turns: [], answer: null, grade: null }
  await put({ index: 0, member: 0, reward: 1 }, makeTrajectory('mended'))
  await put({ index: 0, member: 1, reward: null, outcome: 'infrastructure-error' }, lost)
  await put({ index: 0, member: 2, reward: 0 }, makeTrajectory('given up'))
  await put({ index: 0, member: 3, reward: 0.5 }, makeTrajectory('half'))
  for (const member of [0, 1]) await put({ index: 1, member, reward: 1 }, makeTrajectory(`same ${member}`, 'v2'))
  for (const member of [0, 1]) await put({ step: 1_000_000, member, reward: member }, makeTrajectory('measured'))
  return journal
}

export type Row = Record<string, unknown>

/** The same export as JSON lines, read by Python, and as Parquet, read by another library. */
export async function exportBoth(
  journal: Journal,
  options: Omit<ExportOptions, 'format' | 'to'>,
): Promise<{ lines: Row[]; rows: Row[]; types: Record<string, string | undefined> }> {
  return withDirectory(async directory => {
    const [jsonl, parquet] = [join(directory, 'rows.jsonl'), join(directory, 'rows.parquet')]
    await exportRuns(journal, jobId, { ...options, format: 'jsonl', to: jsonl })
    await exportRuns(journal, jobId, { ...options, format: 'parquet', to: parquet })
    const program =
      'import json,sys; print(json.dumps([json.loads(line) for line in open(sys.argv[1], encoding="utf8")]))'
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', program, jsonl])
    const file = await asyncBufferFromFile(parquet)
    const metadata = await parquetMetadataAsync(file)
    const types = Object.fromEntries(
      parquetSchema(metadata).children.map(({ element }) => [element.name, element.converted_type ?? element.type]),
    )
    return { lines: JSON.parse(stdout), rows: (await parquetReadObjects({ file, metadata })).map(plain), types }
  })
}

/** As JSON has it: typed arrays are lists, and what is not there is not there. */
function plain(row: Row): Row {
  return JSON.parse(
    JSON.stringify(row, (_, value) => {
      if (ArrayBuffer.isView(value)) return Array.from(value as Uint32Array)
      if (typeof value === 'bigint') return Number(value)
      return value === null ? undefined : value
    }),
  )
}

export const withoutNulls = (rows: readonly Row[]) => rows.map(plain)
