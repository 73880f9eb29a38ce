import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { makeJointBucket, makeTokenBucket } from '../../src/runtimes/token-bucket.ts'
import { suite } from '../support/suite.ts'

const test = suite('token bucket')

test('lets through the burst at once, then the rate, and says when the next token comes', () => {
  const bucket = makeTokenBucket({ perSecond: 2, burst: 3 })
  assert.equal(
    [0, 0, 0, 0].map(now => bucket.take(now)),
    [true, true, true, false],
  )
  assert.is(bucket.nextAt(0), 500)
  assert.is(bucket.take(499), false)
  assert.is(bucket.take(500), true)
})

test('never exceeds burst + rate × time over any stretch, and a token is there when it was promised', () => {
  const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 100 }), burst: fc.integer({ min: 1, max: 10 }) })
  fc.assert(
    fc.property(rates, fc.array(fc.nat(300), { maxLength: 100 }), (rate, pauses) => {
      const bucket = makeTokenBucket(rate)
      let now = 0
      let taken = 0
      for (const pause of pauses) {
        now += pause
        while (bucket.take(now)) taken += 1
        assert.ok(taken <= rate.burst + (now / 1_000) * rate.perSecond + 1e-3)
      }
      assert.ok(bucket.take(Math.max(now, bucket.nextAt(now))))
    }),
  )
})

test('a pause empties it, whatever has dripped in', () => {
  const bucket = makeTokenBucket(undefined)
  bucket.pause(1_000)
  assert.is(bucket.take(999), false)
  assert.is(bucket.nextAt(10), 1_000)
  assert.is(bucket.take(1_000), true)
})

test('believes the provider about what its window has left, the lowest figure of a window, until the next begins', () => {
  const bucket = makeTokenBucket(undefined)
  bucket.learn({ remaining: 2, resetAt: 60_000 }, 1_000)
  bucket.learn({ remaining: 5, resetAt: 60_400 }, 1_001)
  assert.equal(
    [1_002, 1_003, 1_004].map(now => bucket.take(now)),
    [true, true, false],
  )
  assert.is(bucket.nextAt(1_005), 60_400)
  assert.is(bucket.take(60_400), true)
  bucket.learn({ remaining: 1, resetAt: 120_000 }, 60_500)
  assert.equal([bucket.take(60_501), bucket.take(60_502), bucket.nextAt(60_503)], [true, false, 120_000])
})

test('one that others have joined gives a token when all of them have one, until they are let go', () => {
  const bucket = makeJointBucket(makeTokenBucket(undefined))
  const other = makeTokenBucket({ perSecond: 1, burst: 1 })
  const leave = bucket.join(other)
  assert.equal([bucket.take(0), bucket.take(0), bucket.nextAt(0)], [true, false, 1_000])
  bucket.pause(5_000)
  assert.is(other.nextAt(4_000), 5_000)
  leave()
  assert.equal([bucket.take(4_000), bucket.take(5_000), bucket.take(5_000)], [false, true, true])
})

test('one that has joined twice gives one token for each, until it has left twice', () => {
  const bucket = makeJointBucket(makeTokenBucket(undefined))
  const other = makeTokenBucket({ perSecond: 1, burst: 2 })
  const leaves = [bucket.join(other), bucket.join(other)]
  assert.equal([bucket.take(0), bucket.take(0), bucket.take(0)], [true, true, false])
  leaves[0]?.()
  assert.is(bucket.take(1), false)
  leaves[1]?.()
  assert.is(bucket.take(2), true)
})

test.run()
