import * as assert from 'uvu/assert'
import { clockOf, countUnderWay, emptyState, hear } from '../../../src/dashboard/page/model/state.ts'
import type { FeedMessage, FeedTick } from '../../../src/feed/messages.ts'
import { suite } from '../../support/suite.ts'
import { Simulation } from '../browser/fixture/simulation.ts'
import { live, run } from './given.ts'

const test = suite('dashboard/page: state')

function begun(): { state: ReturnType<typeof emptyState>; simulation: Simulation } {
  const simulation = new Simulation({ width: 16, seed: 3, groupsPerStep: 4 })
  const state = emptyState()
  hear(state, { type: 'state', ...simulation.state() }, 0)
  return { state, simulation }
}

const tick = (more: Partial<FeedTick>): FeedMessage => {
  const at = more.at ?? 1
  return { type: 'tick', at, now: { snapshot: null, rate: 0, hitRate: null, cost: null, step: null }, ...more }
}

test('ticks lead to the same as the state that they come to', () => {
  const { state, simulation } = begun()
  for (let count = 0; count < 200; count += 1) hear(state, { type: 'tick', ...simulation.tick(250) }, 0)
  const fresh = emptyState()
  hear(fresh, { type: 'state', ...simulation.state() }, 0)
  assert.ok(simulation.steps.length > 1, 'the training gets somewhere')
  assert.equal(state.steps, fresh.steps)
  assert.equal(state.evaluations, fresh.evaluations)
  assert.equal(state.failures, fresh.failures)
  assert.equal(state.chunks, fresh.chunks)
  assert.equal(state.runs.slice(0, 100), fresh.runs.slice(0, 100))
  assert.equal(
    state.groups
      .forming()
      .map(({ groupId }) => groupId)
      .sort(),
    fresh.groups
      .forming()
      .map(({ groupId }) => groupId)
      .sort(),
  )
})

test('a tick before any state is passed over', () => {
  const state = emptyState()
  hear(state, tick({ live: [live('a')] }), 0)
  assert.is(state.live.length, 0)
})

test('what a tick does not tell of has not changed', () => {
  const { state } = begun()
  hear(state, tick({ at: 5 }), 0)
  assert.is(state.live.length, 16)
  assert.is(state.at, 5)
})

test('of a job so wide that not all is listed, all are counted', () => {
  const { state } = begun()
  const now = { snapshot: null, rate: 0, hitRate: null, cost: null, step: null }
  hear(state, tick({ live: [live('a')], now: { ...now, phases: { agent: 3_000, grading: 96 } } }), 0)
  assert.is(countUnderWay(state), 3_096)
  hear(state, tick({ live: [live('a')], now }), 0)
  assert.is(countUnderWay(state), 1)
})

test('lists are bounded, whatever is told', () => {
  const { state } = begun()
  const many = Array.from({ length: 3_000 }, (_, index) => run(`r${index}`, { member: index % 8 }))
  hear(
    state,
    tick({ runs: many, problems: many.map(({ runId }) => ({ at: 0, kind: 'k', tag: 't', message: runId })) }),
    0,
  )
  assert.is(state.runs.length, 500)
  assert.is(state.runs[0]?.runId, 'r2999')
  assert.is(state.problems.length, 200)
  for (let at = 0; at < 1_000_000; at += 1_000) hear(state, tick({ at }), 0)
  assert.ok(state.trends.length <= 240)
})

test('another state of the same job keeps trends and lanes, one of another job nothing', () => {
  const { state, simulation } = begun()
  const lane = state.lanes.get('run-0000000000000003')?.lane
  hear(state, { type: 'state', ...simulation.state() }, 0)
  assert.is(state.lanes.get('run-0000000000000003')?.lane, lane)
  assert.is(state.trends.length, 2)
  const other = simulation.state()
  hear(state, { ...other, type: 'state', live: [], job: { ...other.job, jobId: 'job-2' } }, 0)
  assert.is(state.trends.length, 1)
  assert.is([...state.lanes.items()].length, 0)
})

test("the feed's clock goes on between messages, and stands still when the job is over", () => {
  const { state, simulation } = begun()
  hear(state, tick({ at: 1_000 }), 50)
  assert.is(clockOf(state, 350), 1_300)
  hear(state, { type: 'tick', ...simulation.tick(1), source: 'over' }, 400)
  assert.is(clockOf(state, 9_999), simulation.at)
})

test.run()
