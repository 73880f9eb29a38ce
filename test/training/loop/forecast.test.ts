import * as assert from 'uvu/assert'
import { type Forecast, makeForecast } from '../../../src/training/loop/forecast.ts'
import type { Loop } from '../../../src/training/loop/loop.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const test = suite('training forecast')

function makeScene(poolLeadMs?: number) {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const told: (readonly [at: number, runs: number])[] = []
  const job = { expect: (runs: number) => void told.push([clock.now(), runs]) }
  // Of the loop's settings it looks at these alone.
  const settings = { clock, job, poolLeadMs } as unknown as Loop['settings']
  const forecast: Forecast = makeForecast({ settings, signal: stop.signal })
  return { clock, stop, told, forecast }
}

test('the pool is told of the next step as soon as the rollouts of the last are over', async () => {
  const { clock, told, forecast } = makeScene()
  forecast.begins()
  await clock.advance(100_000)
  forecast.over(128)
  assert.equal(told, [[100_000, 128]])
})

test('with a lead, that long before the next step should begin if its training takes as long as the last one’s', async () => {
  const { clock, told, forecast } = makeScene(7_000)
  forecast.begins()
  forecast.over(128)
  assert.equal(told, [[0, 128]], 'at once as long as nothing is known')
  await clock.advance(90_000)
  forecast.begins()
  await clock.advance(10_000)
  forecast.over(128)
  await clock.advance(82_999)
  assert.is(told.length, 1)
  await clock.advance(1)
  assert.equal(told[1], [183_000, 128])
})

test('of nothing to come, of a step that began earlier, and after the end, it is told nothing', async () => {
  const { clock, stop, told, forecast } = makeScene(7_000)
  forecast.over(0)
  forecast.over(8)
  await clock.advance(90_000)
  forecast.begins()
  forecast.over(8)
  await clock.advance(1_000)
  forecast.begins()
  forecast.over(8)
  assert.is(told.length, 2, 'the gap was shorter than the lead: at once')
  await clock.advance(200_000)
  assert.is(told.length, 2)
  forecast.begins()
  forecast.over(8)
  stop.abort()
  await clock.advance(200_000)
  assert.is(told.length, 2)
})

test.run()
