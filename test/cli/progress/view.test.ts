import * as assert from 'uvu/assert'
import { paceOf } from '../../../src/cli/progress/pace.ts'
import { describeFailures } from '../../../src/cli/progress/tally.ts'
import { type ProgressView, toBar, toLine, toProgressData } from '../../../src/cli/progress/view.ts'
import { roughly } from '../../../src/report/units.ts'
import { suite } from '../../support/suite.ts'

const test = suite('progress as it is written')

const view: ProgressView = {
  stage: 'step 3/10 rollouts',
  done: 12,
  total: 48,
  unit: 'runs',
  rate: 2.5,
  leftMs: 14_400,
  figures: ['75.0 % passed', '1 failed: 1 model-lost', '8 in flight', 'pool 3/8 ready 5 leased'],
  data: { passed: 9 },
}

test('a line has all of it', () => {
  assert.is(
    toLine(view),
    'step 3/10 rollouts: 12/48 runs, 2.5/s, 15 s left, 75.0 % passed, 1 failed: 1 model-lost, 8 in flight, pool 3/8 ready 5 leased',
  )
  assert.is(toLine({ ...view, stage: '', rate: null, leftMs: null, figures: [] }), '12/48 runs')
  assert.is(toLine({ ...view, stage: '', total: null, rate: null, leftMs: null, figures: [] }), '12 runs')
})

test('a bar is narrower than its terminal, and what is worth least goes first', () => {
  assert.is(
    toBar(view, 160),
    'step 3/10 rollouts █████░░░░░░░░░░░░░░░ 12/48 runs, 2.5/s, 15 s left, 75.0 % passed, 1 failed: 1 model-lost, 8 in flight, pool 3/8 ready 5 leased',
  )
  assert.is(toBar(view, 80), 'step 3/10 rollouts █████░░░░░░░░░░░░░░░ 12/48 runs, 2.5/s, 15 s left')
  assert.is(toBar(view, 60), 'step 3/10 rollouts ██░░░░░░░░ 12/48 runs, 2.5/s, 15 s left')
  assert.is(toBar(view, 40), 'step 3/10 rollouts █░░░░ 12/48 runs')
  assert.is(toBar(view, 32), 'step 3/10 rollouts 12/48 runs')
  assert.is(toBar(view, 20), '12/48 runs, 2.5/s')
  assert.is(toBar(view, 6), '12/48')
  for (let columns = 1; columns < 200; columns += 1)
    assert.ok([...toBar(view, columns)].length < columns, `${columns} columns`)
})

test('nothing is a full bar before all is done, nor before anything is planned', () => {
  assert.match(toBar({ ...view, stage: '', done: 47, total: 48 }, 80), /^█{19}░ /)
  assert.match(toBar({ ...view, stage: '', done: 48, total: 48 }, 80), /^█{20} /)
  assert.match(toBar({ ...view, stage: '', done: 0, total: 0 }, 80), /^░{20} 0\/0 runs/)
})

test('programs are told the same in figures', () => {
  assert.equal(toProgressData(view), {
    stage: 'step 3/10 rollouts',
    done: 12,
    total: 48,
    unit: 'runs',
    rate: 2.5,
    leftMs: 14_400,
    passed: 9,
  })
})

test('the time left is told once enough is done to tell, and what was found done says nothing of it', () => {
  assert.equal(paceOf({ done: 0, total: 100, fresh: 0, elapsedMs: 5_000 }), { rate: 0, leftMs: null })
  assert.equal(paceOf({ done: 4, total: 100, fresh: 4, elapsedMs: 2_000 }), { rate: 2, leftMs: null })
  assert.equal(paceOf({ done: 10, total: 100, fresh: 10, elapsedMs: 5_000 }), { rate: 2, leftMs: 45_000 })
  assert.equal(paceOf({ done: 90, total: 100, fresh: 0, elapsedMs: 5_000 }), { rate: 0, leftMs: null })
  assert.equal(paceOf({ done: 92, total: 100, fresh: 2, elapsedMs: 1_000 }), { rate: 2, leftMs: 4_000 })
  assert.equal(paceOf({ done: 100, total: 100, fresh: 100, elapsedMs: 50_000 }), { rate: 2, leftMs: null })
})

test('a time that is guessed is no more exact than a guess', () => {
  assert.equal([400, 47_001, 99_000, 100_000, 3_600_000, 7_500_000].map(roughly), [
    '1 s',
    '48 s',
    '99 s',
    '2 min',
    '60 min',
    '2 h 05 min',
  ])
})

test('failures are told by kind, the most frequent first', () => {
  const kinds = (...pairs: [string, number][]) => new Map(pairs)
  assert.equal(describeFailures(0, kinds()), [])
  assert.equal(describeFailures(3, kinds(['deadline', 1], ['model-lost', 2])), ['3 failed: 2 model-lost, 1 deadline'])
  assert.equal(describeFailures(9, kinds(['a', 1], ['b', 3], ['c', 2], ['d', 1])), ['9 failed: 3 b, 2 c, 1 a, …'])
  assert.equal(describeFailures(2, kinds()), ['2 failed'], 'an earlier process ended them, and nobody told why')
})

test.run()
