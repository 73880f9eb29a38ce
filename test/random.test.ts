import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { deriveSeed, makeRandom, shuffle } from '../src/random.ts'
import { suite } from './support/suite.ts'

const test = suite('random')

test('a seed repeats its numbers, another seed has others', () => {
  const draw = (seed: number) => Array.from({ length: 5 }, makeRandom(seed))
  assert.equal(draw(7), draw(7))
  assert.not.equal(draw(7), draw(8))
  assert.not.equal(draw(1), draw(1 + 2 ** 32), 'both halves of a seed count')
})

test('the numbers fill [0, 1) evenly enough', () => {
  const random = makeRandom(1)
  const bins = new Array<number>(10).fill(0)
  for (let draw = 0; draw < 100_000; draw += 1) {
    const value = random()
    assert.ok(value >= 0 && value < 1)
    const bin = Math.floor(value * 10)
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  for (const size of bins) assert.ok(Math.abs(size - 10_000) < 400, `a tenth of the range has ${size} of 100,000`)
})

test('a derived seed depends on every part and on where the parts are divided', () => {
  assert.is(deriveSeed(1, 0, 'a', 2), deriveSeed(1, 0, 'a', 2))
  assert.not.equal(deriveSeed('ab', 'c'), deriveSeed('a', 'bc'))
  assert.not.equal(deriveSeed(1), deriveSeed('1'))
})

test('shuffling keeps every item once and leaves the argument alone', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
      const before = [...items]
      const shuffled = shuffle(items, makeRandom(seed))
      const sorted = (numbers: number[]) => [...numbers].sort((one, other) => one - other)
      assert.equal(items, before)
      assert.equal(sorted(shuffled), sorted(items))
    }),
  )
})

test.run()
