import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { makeConservation, makeWaitingBytes } from '../../src/stream/index.ts'
import { suite } from '../support/suite.ts'

const test = suite('credits and conservation')

test('waiting bytes are full from the limit on, and tell when there is room again', () => {
  const waiting = makeWaitingBytes(100)
  let rooms = 0
  const remove = waiting.onRoom(() => {
    rooms += 1
  })
  waiting.add(60)
  assert.is(waiting.full, false)
  waiting.add(60)
  assert.is(waiting.full, true)
  waiting.take(10)
  assert.is(rooms, 0)
  waiting.take(60)
  assert.is(rooms, 1)
  waiting.take(50)
  assert.is(rooms, 1)
  remove()
  waiting.add(200)
  waiting.take(200)
  assert.is(rooms, 1)
})

test('taking more than waits is a broken invariant', () => {
  const waiting = makeWaitingBytes(100)
  waiting.add(5)
  assert.throws(
    () => waiting.take(6),
    (error: unknown) => hasTag(error, 'credits-broken'),
  )
})

test('runs are conserved: completed = shipped + queued + dropped', () => {
  const conservation = makeConservation()
  conservation.add(10)
  conservation.ship(4)
  conservation.drop('member-lost', 2)
  conservation.drop('stale', 1)
  conservation.check()
  conservation.check(3)
  assert.equal(conservation.counts, {
    completed: 10,
    shipped: 4,
    queued: 3,
    dropped: { 'member-lost': 2, stale: 1 },
  })
  assert.throws(
    () => conservation.check(2),
    (error: unknown) => hasTag(error, 'conservation-broken'),
  )
  conservation.ship(4)
  assert.throws(
    () => conservation.check(),
    (error: unknown) => hasTag(error, 'conservation-broken'),
  )
})

test.run()
