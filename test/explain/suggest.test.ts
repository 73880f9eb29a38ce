import * as assert from 'uvu/assert'
import type { KeptStep } from '../../src/explain/to-timeline.ts'
import { suite } from '../support/suite.ts'
import { explain, makeCall, makeOptim, makeRun } from './scene.ts'

const test = suite('explain: suggestions')

const about = (kept: Partial<KeptStep>) => explain(kept).suggestions.map(suggestion => suggestion.about)
const textOf = (kept: Partial<KeptStep>, wanted: string) =>
  explain(kept).suggestions.find(suggestion => suggestion.about === wanted)?.text ?? ''

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

test('where nothing stands out nothing is suggested', () => {
  const runs = range(16).map(index =>
    makeRun(index, 0, {
      from: 0,
      timings: { provisioning: 1, starting: 240, agent: 240, grading: 240, verifying: 240, cleanup: 2 + index },
    }),
  )
  assert.equal(explain({ runs }).suggestions, [])
})

test('cold sandboxes on the critical path are named with their count, their wait, and what one that is ready took', () => {
  const cold = range(3).map(index =>
    makeRun(index, 0, { from: 0, lease: 'cold', timings: { provisioning: 4_000 - index, agent: 2_000 } }),
  )
  const ready = makeRun(3, 0, { from: 0, timings: { provisioning: 100, agent: 2_000 } })
  const kept = { runs: [...cold, ready] }
  const [first] = explain(kept).suggestions
  assert.is(first?.about, 'sandboxes')
  assert.is(first?.savesMs, 3_900)
  for (const part of [
    '66.7 % of the critical path: 4.00 s of 6.00 s, in 1 wait',
    '4 leases: 3 cold, 1 ready.',
    '4.00 s − 1 × 100 ms = 3.90 s less',
    '--pool 4 ',
  ])
    assert.ok(first?.text.includes(part), first?.text)
  assert.match(textOf({ runs: cold }, 'sandboxes'), 'None was ready beforehand')
})

test('a group that ended long after the others is named, with its member, its cause, and the limit that meets no other', () => {
  const runs = range(16).map(index => makeRun(index, 3, { from: 0, timings: { agent: 2_000 + index } }))
  const slow = makeRun(16, 3, {
    from: 0,
    timings: { agent: 9_900, grading: 300 },
    turns: [{ role: 'assistant', atMs: 0, tookMs: 9_900 }],
  })
  const kept = { runs: [...runs, slow] }
  const text = textOf(kept, 'straggler')
  for (const part of [
    '1 of 17 groups ended 8.19 s after the 16th: that of sum-16. Its member 3 (run-16-3) was last',
    'model 7.88 s',
    '10.20 s − 8.19 s = 2.02 s',
    '--deadline agent=3 would have cut this one alone',
  ])
    assert.ok(text.includes(part), text)
})

test('a straggler that the end of the step did not wait for is no suggestion', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { starting: 500 } }),
    makeRun(1, 0, { from: 0, timings: { starting: 2_000 } }),
  ]
  const calls = [makeCall(0, [0], 501, 8_000)]
  assert.not.ok(about({ runs, calls }).includes('straggler'))
})

test('rollouts one after the other are told apart from rollouts side by side', () => {
  const inTurn = range(4).map(index => makeRun(index, 0, { from: index * 1_000, timings: { starting: 990 } }))
  const text = textOf({ runs: inTurn }, 'width')
  for (const part of [
    'At most 1 of 4 rollouts',
    'goes through 4 of them',
    '--max-concurrent 4 takes 3.99 s − 990 ms = 3.00 s',
  ])
    assert.ok(text.includes(part), text)
  const beside = range(4).map(index => makeRun(index, 0, { from: 0, timings: { starting: 990 + index } }))
  assert.not.ok(about({ runs: beside }).includes('width'))
})

test('a trainer that stood still for planned order, with other groups there, is told from one that had nothing', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { starting: 3_000 } }),
    makeRun(1, 0, { from: 0, timings: { starting: 1_000 } }),
  ]
  const calls = [makeCall(0, [0], 3_000, 4_000), makeCall(1, [1], 4_000, 5_000)]
  const planned = textOf({ runs, calls }, 'training')
  assert.ok(planned.includes('For 2.00 s it stood still'), planned)
  assert.ok(planned.includes('--order completion takes 2.00 s off at most'), planned)
  assert.not.match(textOf({ runs, calls, order: 'completion' }, 'training'), '--order')
})

test('a first call that was held back for more groups names the chunk', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { starting: 1_000 } }),
    makeRun(1, 0, { from: 0, timings: { starting: 3_000 } }),
  ]
  const text = textOf({ runs, calls: [makeCall(0, [0, 1], 3_000, 5_000)], optim: makeOptim(5_000, 5_100) }, 'training')
  assert.ok(text.includes('Training took 2.10 s, 0.00 ms of it while rollouts ran'), text)
  assert.ok(
    text.includes('held 2 groups, the first of which was over 2.00 s before: a smaller --chunk takes 2.00 s'),
    text,
  )
})

test('attempts before the last, a standstill, and the part that leads are told with their share', () => {
  const again = makeRun(0, 0, { from: 5_000, attempt: 2, timings: { grading: 5_000 } })
  const runs = [again, makeRun(0, 1, { from: 0, timings: { grading: 100 } })]
  assert.match(textOf({ runs }, 'attempts'), '50.0 % of the critical path: 5.00 s. 1 of 2 rollouts needed another.')
  assert.match(textOf({ runs }, 'part'), '50.0 % of the critical path went to: grading, 5.00 s in 1 stretch.')
  const resumed = [
    makeRun(0, 0, { from: 0, timings: { grading: 1_000 } }),
    makeRun(1, 0, { from: 9_000, timings: { grading: 1_000 } }),
  ]
  assert.match(textOf({ runs: resumed }, 'stopped'), 'For 8.00 s, 80.0 % of the critical path, nothing was under way')
})

test.run()
