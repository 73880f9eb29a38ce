import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toArrivals, toDurationMs, toDurations, toStrategies } from '../../src/cli/tune-arguments.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli tune arguments')

test('times have units', () => {
  assert.equal(['94s', '1.5m', '500ms', '2h', '0s'].map(toDurationMs), [94_000, 90_000, 500, 7_200_000, 0])
  for (const text of ['94', 's', '-1s', '1d', '', '1 s']) assert.throws(() => toDurationMs(text), /such as 94s/, text)
})

test('durations are two percentiles or measured times', () => {
  assert.equal(toDurations('p50=50s,p95=90s'), { type: 'lognormal', p50Ms: 50_000, p95Ms: 90_000 })
  assert.equal(toDurations('p95=9m, p50=3m'), { type: 'lognormal', p50Ms: 180_000, p95Ms: 540_000 })
  assert.equal(toDurations('41s,52s,90s'), { type: 'measured', ms: [41_000, 52_000, 90_000] })
  for (const text of [
    '50s',
    'p50=50s',
    'p50=50s,p99=90s',
    'p50=0s,p95=1s',
    'p50=fast,p95=90s',
    '41s,slow',
    'p50=1s,p95=2s,p50=3s',
  ])
    assert.throws(() => toDurations(text), /for instance p50=50s,p95=90s/, text)
  assert.throws(() => toDurations('p50=90s,p95=50s'), /no shorter than the p50/)
})

test('arrivals are a batch, staggered or steady', () => {
  assert.equal(toArrivals('batch'), { type: 'batch' })
  assert.equal(toArrivals('staggered'), { type: 'staggered', overMs: undefined })
  assert.equal(toArrivals('staggered:5m'), { type: 'staggered', overMs: 300_000 })
  assert.equal(toArrivals('steady:0.5'), { type: 'steady', perSecond: 0.5 })
  for (const text of [
    '',
    'batch:1',
    'steady',
    'steady:',
    'steady:0',
    'steady:-1',
    'steady:often',
    'staggered:5',
    'burst',
  ])
    assert.throws(() => toArrivals(text), /steady:0\.5/, text)
})

test('strategies are those that there are, each once', () => {
  assert.equal(toStrategies('prewarm,cold,prewarm'), ['prewarm', 'cold'])
  assert.throws(() => toStrategies('prewarm,hot'), /cold, fork, provider-pool, prewarm, prewarm\+fork/)
})

test('any text is read or refused in words', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('p50=', ',', '=', '1s', 'steady:1e9')), text => {
      for (const parse of [toDurationMs, toDurations, toArrivals, toStrategies]) {
        try {
          parse(text)
        } catch (error) {
          assert.match(error instanceof Error ? error.message : '', /^Write /)
        }
      }
    }),
  )
})

test.run()
