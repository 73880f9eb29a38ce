import * as assert from 'uvu/assert'
import { medianOf, toPercentiles } from '../../src/ladder/percentiles.ts'
import { suite } from '../support/suite.ts'

const test = suite('ladder percentiles')

test('percentiles are those of the sorted durations, to three digits', () => {
  const durations = Array.from({ length: 200 }, (_, at) => 200 - at)
  const { count, p50, p95, p99, min, max } = toPercentiles(durations)
  assert.equal([count, min, max], [200, 1, 200])
  for (const [found, wanted] of [
    [p50, 100],
    [p95, 190],
    [p99, 198],
  ] as const)
    assert.ok(Math.abs(found / wanted - 1) < 0.002, `${found} for ${wanted}`)
})

test('hours and fractions of a millisecond are both kept apart', () => {
  assert.ok(Math.abs(toPercentiles([0.25]).p50 - 0.25) < 0.001)
  assert.ok(Math.abs(toPercentiles([7_200_000]).p50 / 7_200_000 - 1) < 0.001)
})

test('of nothing there is no percentile', () => {
  assert.ok(Number.isNaN(toPercentiles([]).p50))
  assert.ok(Number.isNaN(medianOf([])))
})

test('a median is the middle one, and the mean of the middle two', () => {
  assert.is(medianOf([3, 1, 2]), 2)
  assert.is(medianOf([4, 1, 3, 2]), 2.5)
})

test.run()
