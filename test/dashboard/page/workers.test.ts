import * as assert from 'uvu/assert'
import { emptyState, hear } from '../../../src/dashboard/page/model/state.ts'
import { toShown } from '../../../src/dashboard/page/model/workers.ts'
import { tellFate, tellHere } from '../../../src/dashboard/page/views/workers-words.ts'
import { clockTime } from '../../../src/dashboard/page/words.ts'
import { suite } from '../../support/suite.ts'
import { workerOf } from '../../telemetry/metrics/scene.ts'
import { EPOCH, Simulation } from '../browser/fixture/simulation.ts'
import { toWorkers } from '../browser/fixture/workers.ts'

const test = suite('dashboard/page: workers')

test('a state and ticks tell of workers whole; what tells of none has changed none, and another job has none', () => {
  const simulation = new Simulation({ width: 16, seed: 3, groupsPerStep: 4 })
  const state = emptyState()
  hear(state, { type: 'state', ...simulation.state() }, 0)
  assert.is(state.workers, null)
  const many = toWorkers(8, EPOCH)
  hear(state, { type: 'state', ...simulation.state(), workers: many }, 0)
  assert.is(state.workers, many)
  const fewer = toWorkers(3, EPOCH)
  hear(state, { type: 'tick', ...simulation.tick(250), workers: fewer }, 0)
  hear(state, { type: 'tick', ...simulation.tick(250) }, 0)
  assert.is(state.workers, fewer)
  const other = simulation.state()
  hear(state, { type: 'state', ...other, job: { ...other.job, jobId: 'job-2' } }, 0)
  assert.is(state.workers, null)
})

test('they are listed in the order that is asked for, behind those that are not as they should be', () => {
  const list = [
    workerOf({ node: 'a', rollouts: 2, rate: 5, since: 1, sandboxes: 3 }),
    workerOf({ node: 'b', rollouts: 8, rate: 1, since: 3, runs: 7 }),
    workerOf({ node: 'c', state: 'draining', rollouts: 1 }),
    workerOf({ node: 'd', state: 'silent' }),
    workerOf({ node: 'e', state: 'left', goneAt: 5, rollouts: 64 }),
    workerOf({ node: 'f', state: 'lost', goneAt: 9 }),
  ]
  const workers = { count: 6, credits: 48, creditsFree: 37, list }
  const order = (...asked: Parameters<typeof toShown>) => toShown(...asked).here.map(({ node }) => node)
  assert.equal(order(workers, 'name'), ['d', 'c', 'a', 'b'])
  assert.equal(order(workers, 'most rollouts'), ['d', 'c', 'b', 'a'])
  assert.equal(order(workers, 'slowest'), ['d', 'c', 'b', 'a'])
  assert.equal(order(workers, 'newest'), ['d', 'c', 'b', 'a'])
  const { here: _, gone, ...sums } = toShown(workers, 'name')
  assert.equal(
    gone.map(({ node }) => node),
    ['f', 'e'],
  )
  const expected = { rollouts: 11, rate: 6, runs: 7, sandboxes: 3, silent: 1, draining: 1, unlisted: 2 }
  assert.equal(sums, expected, 'those that are gone have nothing any more')
  assert.is(tellHere(workers, toShown(workers, 'name')), '6 are there, 1 silent, 1 draining')
})

test('of a lost one it is said who has its groups', () => {
  const lost = workerOf({ state: 'lost', groups: 3, rollouts: 21, heardAt: EPOCH, othersAt: EPOCH + 30_000 })
  const time = clockTime(EPOCH + 30_000)
  assert.is(tellFate(lost, EPOCH + 29_000, true), `3 groups with 21 rollouts, for others from ${time} on`)
  assert.is(tellFate(lost, EPOCH + 31_000, true), '3 groups with 21 rollouts, given to others')
  assert.is(tellFate(lost, EPOCH + 31_000, false), '3 groups with 21 rollouts, waiting for a worker')
  assert.is(tellFate({ ...lost, groups: 0, rollouts: 0 }, EPOCH, true), 'nothing was under way')
  assert.is(tellFate(workerOf({ state: 'left' }), EPOCH, true), 'gave back what it had')
})

test.run()
