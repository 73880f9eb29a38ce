import * as assert from 'uvu/assert'
import { makeKnown } from '../../src/top/known.ts'
import { suite } from '../support/suite.ts'
import { stepOf } from '../telemetry/metrics/scene.ts'
import { AT, FAILURES, rolloutOf, stateOf } from './scene.ts'

const test = suite('what troupe top knows')

test('a tick adds what is new, takes the place of what goes on, and before a state tells nothing', () => {
  const known = makeKnown()
  const { now } = stateOf()
  known.receive({ type: 'tick', at: AT, now })
  assert.is(known.state(), undefined)
  known.receive({ type: 'state', ...stateOf({ failures: FAILURES }) })
  assert.equal(known.state(), stateOf({ failures: FAILURES }))
  const [deadline] = FAILURES
  known.receive({
    type: 'tick',
    at: AT + 500,
    now: { ...now, rate: 3 },
    live: [rolloutOf(3, 'cleanup', 0, 66)],
    steps: [stepOf({ step: 2 })],
    failures: deadline === undefined ? [] : [{ ...deadline, count: 2 }],
    source: 'over',
  })
  const state = known.state()
  assert.equal([state?.at, state?.now.rate, state?.job.source, state?.live.length], [AT + 500, 3, 'over', 1])
  assert.equal(
    state?.training.steps.map(({ step }) => step),
    [0, 1, 2],
  )
  assert.equal(
    state?.failures.map(({ kind, count }) => [kind, count]),
    [
      ['deadline', 2],
      ['model-lost', 12],
    ],
  )
  known.receive({ type: 'tick', at: AT + 1_000, now })
  assert.is(known.state()?.live.length, 1, 'what a tick does not say stays')
})

test('another state replaces all of it', () => {
  const known = makeKnown()
  known.receive({ type: 'state', ...stateOf({ failures: FAILURES }) })
  const other = stateOf({ live: [], training: { steps: [], evaluations: [] } })
  known.receive({ type: 'state', ...other })
  assert.equal(known.state(), other)
})

test.run()
