import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { baseStock, boundStock } from '../../src/pool/sizing.ts'
import { suite } from '../support/suite.ts'

const test = suite('pool sizing')

/** The hit rate that a base stock of `size` would have had, by playing the history through. */
function hitRate(arrivals: readonly number[], refillMs: number, size: number): number {
  let ready = size
  let hits = 0
  const coming: number[] = []
  for (const arrival of arrivals) {
    while ((coming[0] ?? Number.POSITIVE_INFINITY) < arrival) {
      coming.shift()
      ready += 1
    }
    if (ready > 0) hits += 1
    // A miss waits for its own replacement: what is on the shelf may be owed already.
    ready -= 1
    coming.push(arrival + refillMs)
  }
  return hits / arrivals.length
}

test('is the least stock that reaches the hit rate on the measured history', () => {
  const arrivals = fc
    .array(fc.nat(2_000), { minLength: 1, maxLength: 200 })
    .map(times => times.toSorted((left, right) => left - right))
  fc.assert(
    fc.property(arrivals, fc.nat(500), (times, refillMs) => {
      const size = baseStock(times, refillMs)
      assert.ok(hitRate(times, refillMs, size) >= 0.99)
      assert.ok(size === 0 || hitRate(times, refillMs, size - 1) < 0.99)
    }),
    { numRuns: 300 },
  )
})

test('a group that asks all at once needs all its members ready', () => {
  assert.is(baseStock(Array<number>(8).fill(0), 5), 8)
})

test('nothing measured, nothing held', () => {
  assert.is(baseStock([], 1_000), 0)
})

test('never holds, nor tolerates, more than is still asked for', () => {
  assert.equal(boundStock(8, 3), { target: 3, most: 3 })
  assert.equal(boundStock(8, 100), { target: 8, most: 10 })
  assert.equal(boundStock(8, 0), { target: 0, most: 0 })
})

test.run()
