import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { stepRecord } from '../training/receipt/records.ts'
import { BEGAN, makeCall, makeOptim, makeRun, pathOf } from './scene.ts'

const test = suite('explain: the critical path')

test('of rollouts that begin together it is the one that ended last', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { agent: 10 } }),
    makeRun(0, 1, { from: 0, timings: { provisioning: 20, agent: 10 }, lease: 'cold' }),
    makeRun(1, 0, { from: 0, timings: { agent: 15 } }),
  ]
  assert.equal(pathOf({ runs }), ['sandbox-cold 0-20 run-0-1', 'agent 20-30 run-0-1'])
})

test('a rollout that began later waited for the one that ended last before it, though its group went on', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { agent: 10 } }),
    makeRun(1, 0, { from: 0, timings: { agent: 20 } }),
    makeRun(1, 1, { from: 0, timings: { agent: 50 } }),
    makeRun(2, 0, { from: 25, timings: { grading: 40 } }),
  ]
  assert.equal(pathOf({ runs }), ['agent 0-20 run-1-0', 'turn 20-25', 'grading 25-65 run-2-0'])
})

test('from its groups through the calls and the optimiser step to the end of the step', () => {
  const path = pathOf({
    runs: [makeRun(0, 0, { from: 0, timings: { agent: 10 } }), makeRun(1, 0, { from: 0, timings: { agent: 30 } })],
    calls: [makeCall(0, [0], 11, 20), makeCall(1, [1], 32, 50)],
    optim: makeOptim(51, 60),
    record: stepRecord(0, { startedAt: BEGAN - 5, wallMs: 75 }),
  })
  assert.equal(path, [
    'beginning 0-5',
    'agent 5-35 run-1-0',
    'handover 35-37',
    'training 37-55 call 1',
    'handover 55-56',
    'optimiser 56-65',
    'closing 65-75',
  ])
})

test('a call that waited for the call before it, not for its groups, is on it with that one', () => {
  const path = pathOf({
    runs: [makeRun(0, 0, { from: 0, timings: { agent: 10 } }), makeRun(1, 0, { from: 0, timings: { agent: 15 } })],
    calls: [makeCall(0, [0], 10, 40), makeCall(1, [1], 41, 50)],
  })
  assert.equal(path, ['agent 0-10 run-0-0', 'training 10-40 call 0', 'handover 40-41', 'training 41-50 call 1'])
})

test('a call that waited for an earlier group in planned order, of its own or not, names that one', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { agent: 300 } }),
    makeRun(1, 0, { from: 0, timings: { agent: 100 } }),
  ]
  const path = pathOf({ runs, calls: [makeCall(0, [1], 301, 400)] })
  assert.equal(path, ['agent 0-300 run-0-0', 'handover 300-301', 'training 301-400 call 0'])
})

test('a step whose rollouts began while the one before was trained on waited for that one', () => {
  const path = pathOf({
    runs: [makeRun(0, 0, { from: 0, timings: { agent: 10 } })],
    calls: [makeCall(0, [0], 52, 60)],
    beforeEndedAt: BEGAN + 50,
  })
  assert.equal(path, ['step-before 0-50', 'handover 50-52', 'training 52-60 call 0'])
})

test('attempts of which the journal keeps nothing lie between the start of the group and the last one', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { agent: 10 } }),
    makeRun(0, 1, { from: 30, timings: { agent: 10 }, attempt: 3 }),
    makeRun(1, 0, { from: 0, timings: { agent: 20 } }),
  ]
  assert.equal(pathOf({ runs }), ['earlier-attempts 0-30 run-0-1', 'agent 30-40 run-0-1'])
})

test('between two processes nothing was under way, and that is told apart from waiting for a turn', () => {
  const runs = [
    makeRun(0, 0, { from: 0, timings: { agent: 10 } }),
    makeRun(1, 0, { from: 5_000, timings: { agent: 10 } }),
  ]
  assert.equal(pathOf({ runs }), ['agent 0-10 run-0-0', 'stopped 10-5000', 'agent 5000-5010 run-1-0'])
})

test.run()
