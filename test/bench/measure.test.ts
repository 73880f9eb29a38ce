import * as assert from 'uvu/assert'
import { mapFigure, measureRates, repeated, toFigure } from '../../bench/measure.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench measure')

test('a figure is the median of the rounds, and its spread reaches the farthest of them', () => {
  assert.equal(toFigure([10, 14, 11]), { value: 11, spread: 3, samples: [10, 14, 11] })
  assert.equal(mapFigure(toFigure([1, 2, 4]), sample => 8 / sample).value, 4)
  assert.ok(Number.isNaN(toFigure([]).value))
})

test('cases take turns, each with a sample a round, the first round left out', async () => {
  const order: string[] = []
  const toCase = (name: string) => ({ name, operations: 10, run: () => void order.push(name) })
  const rateOf = await measureRates([toCase('a'), toCase('b')], 4)
  for (const name of ['a', 'b']) {
    assert.is(rateOf(name).samples.length, 4)
    assert.ok(rateOf(name).value > 0)
  }
  const turns = order.filter((name, index) => name !== order[index - 1])
  assert.is(turns.length, 2 * (4 + 1), turns.join(' '))
})

test('after an abort no further round begins', async () => {
  const stop = new AbortController()
  let runs = 0
  const run = () => {
    runs += 1
    if (runs === 4) stop.abort()
  }
  const rateOf = await measureRates([{ name: 'only', operations: 1, run }], 100, stop.signal)
  assert.is(rateOf('only').samples.length, 1)
  assert.is(runs, 6)
})

test('repeated work is counted as often as it is done', () => {
  let done = 0
  const work = () => {
    done += 1
  }
  const { operations, run } = repeated('counted', work, 3)
  done = 0
  run()
  assert.is(operations, done * 3)
  assert.ok(done > 1)
})

test('a case that throws is named', async () => {
  const run = () => {
    throw new Error('out of luck')
  }
  const error = await measureRates([{ name: 'unlucky', operations: 1, run }], 2).catch(String)
  assert.match(String(error), /unlucky gave no result.*out of luck/)
})

test.run()
