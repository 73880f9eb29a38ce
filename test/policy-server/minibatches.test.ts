import fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { Datum } from '../../src/policy/policy.ts'
import { toMinibatches } from '../../src/policy/server/minibatches.ts'
import { makeRandom, shuffle } from '../../src/random.ts'
import { suite } from '../support/suite.ts'

const test = suite('minibatches')

const datum = (id: number): Datum => ({
  prompt: Uint32Array.of(1),
  output: Uint32Array.of(id),
  logprobs: Float32Array.of(-1),
  advantage: id,
})
/** Trajectory `n` has `1 + n % 3` turns. */
const batch = (size: number) =>
  Array.from({ length: size }, (_, n) => Array.from({ length: 1 + (n % 3) }, (_, turn) => datum(n * 10 + turn)))
const idsOf = (parts: readonly (readonly Datum[])[]) => parts.map(part => part.map(({ output }) => output[0] ?? 0))
const scene = fc.record({
  size: fc.integer({ min: 1, max: 30 }),
  count: fc.integer({ min: 1, max: 16 }),
  epochs: fc.integer({ min: 1, max: 4 }),
  seed: fc.nat(),
})

test('each pass has every trajectory once and whole', () => {
  fc.assert(
    fc.property(scene, ({ size, ...plan }) => {
      const parts = idsOf(toMinibatches(batch(size), plan))
      const perPass = Math.min(size, plan.count)
      assert.is(parts.length, perPass * plan.epochs)
      const whole = batch(size)
        .flat()
        .map(each => each.advantage)
      for (let pass = 0; pass < plan.epochs; pass += 1) {
        const own = parts.slice(pass * perPass, (pass + 1) * perPass)
        assert.equal(
          own.flat().sort((a, b) => a - b),
          whole,
        )
        for (const part of own)
          for (const id of part)
            assert.is(
              part.filter(each => Math.floor(each / 10) === Math.floor(id / 10)).length,
              1 + (Math.floor(id / 10) % 3),
            )
      }
    }),
  )
})

test('do not depend on the order in which the trajectories came, and differ by the seed', () => {
  fc.assert(
    fc.property(scene, fc.nat(), ({ size, ...plan }, order) => {
      const shuffled = shuffle(batch(size), makeRandom(order))
      assert.equal(idsOf(toMinibatches(shuffled, plan)), idsOf(toMinibatches(batch(size), plan)))
    }),
  )
  const under = (seed: number) => idsOf(toMinibatches(batch(20), { count: 4, epochs: 2, seed })).join(';')
  assert.ok(new Set([1, 2, 3].map(under)).size === 3)
})

test.run()
