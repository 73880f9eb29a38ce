import * as assert from 'uvu/assert'
import {
  PUBLISHED_LADDER_RECEIPT,
  readReceipt,
  toLadderPoints,
  toLadderRows,
  toOverRepetitions,
  toSmallSample,
} from '../../src/receipts/index.ts'
import { suite } from '../support/suite.ts'

const test = suite('receipts: over repetitions')

const isNear = (found: number | undefined, wanted: number) =>
  assert.ok(found !== undefined && Math.abs(found - wanted) < 1e-4, `${found} against ${wanted}`)

test("the interval of a mean is Student's", () => {
  const three = toOverRepetitions([9.85, 10.02, 9.9])
  assert.is(three?.median, 9.9)
  isNear(three?.mean, 9.923333)
  isNear(three?.margin, (4.302653 * 0.087369) / Math.sqrt(3)) // t of 2 degrees of freedom from tables
  isNear(toOverRepetitions([1, 2])?.margin, 12.706205 * 0.5)
  isNear(toOverRepetitions([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])?.margin, (2.262157 * 3.02765) / Math.sqrt(10))
})

test('one repetition has no interval, and none has nothing', () => {
  assert.equal(toOverRepetitions([2]), { repetitions: 1, median: 2, mean: 2 })
  assert.is(toOverRepetitions([]), undefined)
  assert.is(toOverRepetitions([3, 1])?.median, 2)
  assert.is(toOverRepetitions([2, 2, 2])?.margin, 0)
})

test('a percentile of few samples is told to be the largest of them', () => {
  assert.is(toSmallSample('p95', 19), 'the largest of 19')
  assert.is(toSmallSample('p95', 20), undefined)
  assert.is(toSmallSample('p99', 99), 'the largest of 99')
  assert.is(toSmallSample('p99', 100), undefined)
  assert.is(toSmallSample('p99', 1), 'the only one')
})

test('the published ladder has its published medians', () => {
  const points = toLadderPoints(toLadderRows(PUBLISHED_LADDER_RECEIPT, 'published'))
  assert.equal(
    points.map(({ strategy, work, n, figure }) => [strategy, work, n, figure('ready_p50_s')?.median]),
    [8, 32, 128, 256].map((n, index) => ['cold', 'infra', n, [2.8, 3.27, 5.09, 9.9][index]]),
  )
  assert.is(points[0]?.leaked, undefined, 'nobody counted')
})

test('repetitions of one strategy at one width are one point, with sums and errors by kind', () => {
  const rows = `n,mode,work,ready_p50_s,ready_p95_s,failed,leaked,errors
8,warm,infra,2,3,1,0,a:1 b:2
8,cold,infra,5,6,0,,
8,provider-pool,infra,4,5,0,2,b:3
8,cold,rollout,9,9,0,0,
4,warm,infra,1,1,0,0,
`
  const points = toLadderPoints(toLadderRows(readReceipt(rows, 'a.csv'), 'a.csv'))
  assert.equal(
    points.map(({ work, strategy, n }) => `${work} ${strategy} ${n}`),
    ['infra provider-pool 4', 'infra provider-pool 8', 'infra cold 8', 'rollout cold 8'],
  )
  const [, pool, cold] = points
  assert.equal([pool?.ok, pool?.failed, pool?.leaked, pool?.figure('ready_p50_s')?.median], [15, 1, 2, 3])
  assert.equal(
    [...(pool?.errors ?? [])],
    [
      ['b', 5],
      ['a', 1],
    ],
  )
  assert.is(pool?.figure('rss_mib'), undefined)
  assert.is(cold?.leaked, undefined)
})

test.run()
