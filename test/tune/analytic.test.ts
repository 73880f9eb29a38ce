import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { PUBLISHED_JOB } from '../../src/simulation/job.ts'
import { PUBLISHED_MODEL } from '../../src/simulation/latency-model.ts'
import { erlangLoss, poissonBelow, solve } from '../../src/tune/analytic.ts'
import { suite } from '../support/suite.ts'

const test = suite('tune: theory')

/** The formula as it is written down, with all its powers and factorials. */
function directErlang(servers: number, load: number): number {
  let term = 1
  let sum = 1
  for (let n = 1; n <= servers; n += 1) {
    term *= load / n
    sum += term
  }
  return term / sum
}

test('the recurrence is Erlang’s formula', () => {
  assert.is(erlangLoss(0, 3), 1)
  assert.is(erlangLoss(1, 1), 0.5)
  assert.is(erlangLoss(2, 1), 0.2)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.double({ min: 0.01, max: 40, noNaN: true }), (servers, load) => {
      assert.ok(Math.abs(erlangLoss(servers, load) - directErlang(servers, load)) < 1e-9)
    }),
  )
})

test('a shelf that misses are served from elsewhere fares better than one for which they wait', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.double({ min: 0.1, max: 20, noNaN: true }), (size, load) => {
      const [lost, waiting] = [1 - erlangLoss(size, load), poissonBelow(size, load)]
      assert.ok(waiting <= lost + 1e-12 && waiting >= 0)
      assert.ok(poissonBelow(size + 1, load) >= waiting)
    }),
  )
})

test('of a batch, the shelf serves what is on it if it was filled in time', () => {
  const all = solve(PUBLISHED_JOB, PUBLISHED_MODEL, 128, 7_000)
  const half = solve(PUBLISHED_JOB, PUBLISHED_MODEL, 64, 7_000)
  const late = solve(PUBLISHED_JOB, PUBLISHED_MODEL, 128, 3_000)
  assert.equal(
    [all, half, late].map(each => each.type === 'batch' && each.hitRate),
    [1, 0.5, 0],
  )
  assert.ok(all.type === 'batch' && half.type === 'batch' && all.stepMs < half.stepMs)
})

test('of arrivals over time, the least shelf for a hit rate is told', () => {
  const job = { ...PUBLISHED_JOB, arrivals: { type: 'steady', perSecond: 0.5 } } as const
  const found = solve(job, PUBLISHED_MODEL, 8, 0)
  assert.ok(found.type === 'base-stock')
  const size = found.sizeFor(0.99)
  assert.is(size % job.group, 0)
  const [enough, fewer] = [size, size - job.group].map(each => solve(job, PUBLISHED_MODEL, each, 0))
  assert.ok(enough?.type === 'base-stock' && enough.hitRateWaiting >= 0.99)
  assert.ok(fewer?.type === 'base-stock' && fewer.hitRateWaiting < 0.99)
})

test.run()
