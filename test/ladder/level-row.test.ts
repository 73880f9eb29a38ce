import * as assert from 'uvu/assert'
import { countByTag } from '../../src/ladder/error-count.ts'
import { toLadderReceipt } from '../../src/ladder/ladder-receipt.ts'
import { toLevelRow } from '../../src/ladder/level-row.ts'
import { formatReceipt, readReceipt, toLadderRows } from '../../src/receipts/index.ts'
import { suite } from '../support/suite.ts'
import { makeLevel, makeSample } from './scene.ts'

const test = suite('ladder rows')

test('a level is told in the published columns, in seconds', () => {
  const level = makeLevel({ width: 2 }, { samples: [makeSample(2_000), makeSample(3_000)], cpuMs: 10, fillCpuMs: 6 })
  const row = toLevelRow(level)
  assert.equal([row.n, row.rep, row.mode, row.ok, row.failed], ['2', '1', 'cold', '2', '0'])
  assert.equal([row.ready_min_s, row.ready_max_s, row.spread_s, row.wall_s], ['2', '3', '1', '3'])
  assert.is(row.colds, '2')
  assert.is(row.hit_rate, '0')
})

test('what was spent on getting ready counts for every sandbox, and is told apart too', () => {
  const row = toLevelRow(makeLevel({ width: 2 }, { samples: [makeSample(5)], cpuMs: 10, fillCpuMs: 6 }))
  assert.equal([row.engine_cpu_ms, row.fill_cpu_ms], ['8', '6'])
})

test('memory is what a level took above what was there before, by sandbox', () => {
  const row = toLevelRow(makeLevel({ width: 4 }, { restRssBytes: 60 * 2 ** 20, peakRssBytes: 62 * 2 ** 20 }))
  assert.equal([row.rss_mib, row.rss_peak_mib], ['0.500', '62'])
})

test('a stage is told by its own time, not by when it was over', () => {
  const stages = { lease: 100, hello: 130, start: 150, agent: 950, grade: 1_000 }
  const row = toLevelRow(makeLevel({ work: 'rollout', width: 1 }, { samples: [makeSample(130, { stages })] }))
  const about = [row.lease_p50_ms, row.hello_p50_ms, row.start_p50_ms, row.agent_p50_ms, row.grade_p50_ms]
  for (const [at, wanted] of [100, 30, 20, 800, 50].entries())
    assert.ok(Math.abs(Number(about[at]) / wanted - 1) < 0.002, `${about[at]} for ${wanted}`)
})

test('failures are counted by what lies beneath them; what is unknown is empty, not zero', () => {
  const cause = { tag: 'daytona-rate-limited', message: 'too many' }
  const failures = [{ tag: 'provision-failed', message: 'no', cause }]
  const row = toLevelRow(makeLevel({ width: 1 }, { failures, errors: countByTag([...failures, ...failures]) }))
  assert.is(row.errors, 'provision-failed<daytona-rate-limited:2')
  assert.equal([row.ok, row.failed], ['0', '1'])
  for (const column of ['ready_p50_s', 'lease_p50_ms', 'hit_rate', 'create_failures', 'start_p50_ms'])
    assert.is(row[column], undefined, column)
})

test('a receipt says how to make it again, whether it is whole, and reads back', () => {
  const levels = [makeLevel({}, { samples: [makeSample(2_000)] }), makeLevel({ strategy: 'prewarm', width: 32 })]
  const text = formatReceipt(toLadderReceipt(levels, { command: 'troupe ladder --seed 3', seed: '3' }, []))
  for (const says of [
    /# command: .*--seed 3/,
    /# complete: true/,
    new RegExp(`# node: ${process.version}`),
    /# machine: \d/,
  ])
    assert.match(text, says)
  const rows = toLadderRows(readReceipt(text, 'x.csv'), 'x.csv')
  assert.equal(
    rows.map(({ n, mode, ok }) => [n, mode, ok]),
    [
      [8, 'cold', 1],
      [32, 'prewarm', 0],
    ],
  )
})

test('one that is not complete says why', () => {
  const { about } = toLadderReceipt([], {}, ['cold at 8:\nno quota', 'interrupted'])
  assert.is(about.complete, 'false: cold at 8: no quota; interrupted')
})

test.run()
