import { Writable } from 'node:stream'
import * as assert from 'uvu/assert'
import { toJobId } from '../../src/ids.ts'
import type { ExportShapeName } from '../../src/journal/export/shape.ts'
import { exportRuns, type Journal, openMemoryJournal } from '../../src/journal/index.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import { suite } from '../support/suite.ts'
import { makeHeader } from './fixtures.ts'

const test = suite('export of long jobs')
const jobId = toJobId('job-1')
const GROUP = 8

/** A journal of `runs` runs that is never in memory: each run is made when it is asked for, and `read` counts them. */
function makeLongJournal(runs: number, text = 500): { readonly journal: Journal; readonly counts: { read: number } } {
  const counts = { read: 0 }
  const trajectory = packTrajectory({
    prompt: 'Repair calc.py',
    turns: [
      {
        role: 'assistant',
        text: 'x'.repeat(text),
        atMs: 0,
        tookMs: 1,
        tokens: {
          prompt: Uint32Array.from({ length: 50 }, (_, id) => id),
          output: Uint32Array.from({ length: 20 }, (_, id) => id),
          logprobs: new Float32Array(20).fill(-0.5),
        },
      },
    ],
    answer: 'done',
    grade: { score: 1 },
  })
  const header = (place: number): RunHeader =>
    makeHeader({ index: Math.floor(place / GROUP), member: place % GROUP, reward: place % 2 })
  const journal: Journal = {
    ...openMemoryJournal(),
    jobs: async () => [{ jobId, name: 'long', startedAt: 1, seed: 7, settings: {} }],
    async *runs() {
      for (let place = 0; place < runs; place += 1) yield header(place)
    },
    async run(runId) {
      counts.read += 1
      const [, , index, member] = runId.split('-').map(Number)
      return { header: header((index ?? 0) * GROUP + (member ?? 0)), trajectory: trajectory.slice() }
    },
  }
  return { journal, counts }
}

/** Rows read and not yet written, at most, as a target sees it that looks at every write. */
async function mostHeld(shape: ExportShapeName, format: 'jsonl' | 'parquet', runs: number, text?: number) {
  const { journal, counts } = makeLongJournal(runs, text)
  let before = 0
  let most = 0
  let bytes = 0
  const to = new Writable({
    write(piece: Uint8Array, _encoding, done) {
      most = Math.max(most, counts.read - before)
      before = counts.read
      bytes += piece.byteLength
      setImmediate(done)
    },
  })
  const { rows } = await exportRuns(journal, jobId, { shape, format, to })
  return { most, rows, bytes }
}

for (const shape of ['runs', 'messages', 'tokens', 'preferences'] as const)
  test(`${shape}: what is held is bounded by a batch, and not by the job`, async () => {
    const RUNS = 4_000
    const expected = shape === 'preferences' ? RUNS / 2 : RUNS
    const lines = await mostHeld(shape, 'jsonl', RUNS)
    assert.is(lines.rows, expected)
    assert.ok(lines.most <= 2, `${lines.most} runs were read between two writes`)
    const parquet = await mostHeld(shape, 'parquet', RUNS)
    assert.is(parquet.rows, expected)
    assert.ok(parquet.most <= 2_000, `${parquet.most} runs were read between two writes`)
    assert.ok(parquet.bytes > 1_000, 'there is a file at all')
  })

test('a batch of long rows is smaller', async () => {
  for (const shape of ['runs', 'messages'] as const) {
    const { most, rows } = await mostHeld(shape, 'parquet', 40, 500_000)
    assert.is(rows, 40)
    assert.ok(most <= 5, `${most} runs of half a million characters were held`)
  }
})

test.run()
