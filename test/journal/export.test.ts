import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import * as assert from 'uvu/assert'
import { toJobId, toRunId } from '../../src/ids.ts'
import { exportRuns, type Journal, openMemoryJournal } from '../../src/journal/index.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import type { Trajectory } from '../../src/rollout/trajectory.ts'
import { rejectsWith } from '../contracts/journal.ts'
import { suite } from '../support/suite.ts'
import { makeHeader, makeTrajectory } from './fixtures.ts'
import { withDirectory } from './temporary.ts'

const test = suite('export')
const jobId = toJobId('job-1')

const failed: Trajectory = { prompt: null, turns: [], answer: null, grade: null }
const mixed: Trajectory = {
  ...makeTrajectory(1),
  prompt: [{ role: 'user', content: 'a "quoted"\nline' }],
  turns: [{ role: 'tool', text: 'no tokens', atMs: 1, tookMs: 2 }, ...makeTrajectory(2).turns],
}

const toArray = (list: ArrayLike<number>) => Array.from(list)

async function makeJournal(): Promise<Journal> {
  const journal = openMemoryJournal()
  await journal.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
  const put = (member: number, trajectory: Trajectory, more: Parameters<typeof makeHeader>[0] = {}) =>
    journal.putRun(makeHeader({ member, ...more }), packTrajectory(trajectory))
  await put(1, failed, {
    outcome: 'infrastructure-error',
    reward: null,
    stopReason: 'sandbox-lost',
    failedPhase: 'connecting',
    error: { tag: 'session-lost', message: 'gone' },
    lease: null,
    seed: 2 ** 40,
  })
  await put(0, makeTrajectory())
  await put(2, mixed)
  return journal
}

function collector(): { readonly stream: Writable; readonly text: () => string } {
  const pieces: Buffer[] = []
  const stream = new Writable({
    highWaterMark: 16,
    write(piece, _encoding, done) {
      pieces.push(Buffer.from(piece))
      setImmediate(done)
    },
  })
  return { stream, text: () => Buffer.concat(pieces).toString() }
}

test('JSON lines have one run a line, in plan order, with everything in it; the stream stays open', async () => {
  const { stream, text } = collector()
  assert.equal(await exportRuns(await makeJournal(), jobId, { format: 'jsonl', to: stream }), { rows: 3, noun: 'runs' })
  assert.is(stream.writableEnded, false)
  const rows = text()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(
    rows.map(row => [row.run_id, row.reward, row.failed_phase]),
    [
      ['run-0-0-0', 0.5, null],
      ['run-0-0-1', null, 'connecting'],
      ['run-0-0-2', 0.5, null],
    ],
  )
  const [first] = rows
  assert.equal(first.grade, makeTrajectory().grade)
  assert.equal(first.args, { variant: 3 })
  assert.equal(first.turns[0].tool_calls[0].arguments, { command: 'pytest -q' })
  const tokens = makeTrajectory().turns[0]?.tokens
  assert.equal(first.turns[0].tokens.output_token_ids, [...(tokens?.output ?? [])])
  assert.equal(first.turns[0].tokens.output_logprobs, [...(tokens?.logprobs ?? [])])
})

test('Parquet is read back by another reader, with proper types', () =>
  withDirectory(async directory => {
    const to = join(directory, 'runs.parquet')
    assert.equal(await exportRuns(await makeJournal(), jobId, { format: 'parquet', to }), { rows: 3, noun: 'runs' })
    assert.equal(await readdir(directory), ['runs.parquet'])
    const file = await asyncBufferFromFile(to)
    const metadata = await parquetMetadataAsync(file)
    const types = Object.fromEntries(
      parquetSchema(metadata).children.map(({ element }) => [element.name, element.converted_type ?? element.type]),
    )
    assert.is(types.reward, 'DOUBLE')
    assert.is(types.run_id, 'UTF8')
    assert.is(types.turns, 'JSON')
    assert.is(types.prompt_token_ids, 'LIST')
    const rows = await parquetReadObjects({ file, metadata })
    const [first, second, third] = rows
    assert.ok(first && second && third)
    assert.equal([first.reward, second.reward], [0.5, null])
    assert.equal([first.failed_phase, second.failed_phase], [null, 'connecting'])
    assert.equal(second.error, { tag: 'session-lost', message: 'gone' })
    assert.is(second.seed, 2n ** 40n)
    assert.equal(first.started_at, new Date(1_700_000_000_000))
    assert.equal([second.prompt_token_ids, second.turns], [[], []])
    assert.equal(third.prompt, mixed.prompt)
    assert.is(third.turns[1].text, 'turn 0: naïve ✓')
    const [toolTurn, ...agentTurns] = third.output_token_ids
    assert.not(toolTurn)
    const tokens = mixed.turns.flatMap(turn => turn.tokens ?? [])
    assert.equal(
      agentTurns.map(toArray),
      tokens.map(({ output }) => [...output]),
    )
    assert.equal(
      third.output_logprobs.slice(1).map(toArray),
      tokens.map(({ logprobs }) => [...logprobs]),
    )
  }))

test('an empty job gives an empty Parquet file that can be read', () =>
  withDirectory(async directory => {
    const journal = openMemoryJournal()
    await journal.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
    const to = join(directory, 'empty.parquet')
    assert.equal(await exportRuns(journal, jobId, { format: 'parquet', to }), { rows: 0, noun: 'runs' })
    assert.equal(await parquetReadObjects({ file: await asyncBufferFromFile(to) }), [])
  }))

test('an unknown job is an error that names those there are', async () => {
  const error = await rejectsWith(
    'unknown-job',
    exportRuns(await makeJournal(), toJobId('job-9'), { format: 'jsonl', to: collector().stream }),
  )
  assert.match(error.message, 'it has job-1')
})

test('what fails half way leaves nothing behind', () =>
  withDirectory(async directory => {
    const journal = await makeJournal()
    await journal.putRun(makeHeader({ member: 9, runId: toRunId('bad') }), new Uint8Array(3))
    const to = join(directory, 'runs.jsonl')
    await rejectsWith('unreadable-trajectory', exportRuns(journal, jobId, { format: 'jsonl', to }))
    assert.equal(await readdir(directory), [])
    await rejectsWith('export-failed', exportRuns(journal, jobId, { format: 'jsonl', to: join(directory, 'no', 'x') }))
    const broken = new Writable({ write: (_piece, _encoding, done) => done(new Error('pipe closed')) })
    await rejectsWith('export-failed', exportRuns(journal, jobId, { format: 'jsonl', to: broken }))
  }))

test('a file appears whole', () =>
  withDirectory(async directory => {
    const to = join(directory, 'runs.jsonl')
    await exportRuns(await makeJournal(), jobId, { format: 'jsonl', to })
    assert.is((await readFile(to, 'utf8')).split('\n').length, 4)
  }))

test.run()
