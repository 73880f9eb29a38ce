import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { deviationOf, toAdvantages } from '../src/advantages.ts'
import { suite } from './support/suite.ts'

const test = suite('advantages')

const group = fc.integer({ min: 1, max: 6 }).chain(size =>
  fc.record({
    size: fc.constant(size),
    rewards: fc
      .array(fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: size, maxLength: size }), {
        minLength: 1,
        maxLength: 5,
      })
      .map(groups => groups.flat()),
  }),
)

test('are (r − mean) / (population deviation + 1e-4), within contiguous groups', () => {
  const [first, second, third, fourth] = toAdvantages([1, 0, 1, 1], 2, 1)
  assert.ok(Math.abs((first ?? 0) - 0.5 / (0.5 + 1e-4)) < 1e-12)
  assert.is(second, -(first ?? 0))
  assert.equal([third, fourth], [0, 0])
})

test('sum to nothing in each group, and each group stands by itself', () => {
  fc.assert(
    fc.property(group, ({ size, rewards }) => {
      const advantages = toAdvantages(rewards, size, 1)
      for (let from = 0; from < rewards.length; from += size) {
        const own = advantages.slice(from, from + size)
        assert.ok(Math.abs(own.reduce((sum, each) => sum + each, 0)) < 1e-6)
        assert.equal(own, toAdvantages(rewards.slice(from, from + size), size, 1))
      }
    }),
  )
})

test('are exactly 0 without spread, also where the mean of equal rewards is not quite the reward', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.integer({ min: 1, max: 20 }), (reward, size) => {
      const rewards = Array.from({ length: size }, () => reward)
      assert.ok(toAdvantages(rewards, size, 3).every(each => each === 0))
      assert.is(deviationOf(rewards), 0)
    }),
  )
})

test('grow with the reward scale', () => {
  const once = toAdvantages([0, 1, 0.5], 3, 1)
  const twice = toAdvantages([0, 1, 0.5], 3, 2)
  assert.equal(
    twice.map((each, place) => Math.abs(each - 2 * (once[place] ?? 0)) < 1e-12),
    [true, true, true],
  )
})

test.run()
