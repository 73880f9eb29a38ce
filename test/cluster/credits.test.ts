import * as assert from 'uvu/assert'
import { makeCredits } from '../../src/cluster/credits.ts'
import { suite } from '../support/suite.ts'

const test = suite('credits of a worker')

test('as many groups are claimed as fit, one where there is any room, and none without', () => {
  const credits = makeCredits(10)
  assert.is(credits.claim(4, 1), 2)
  assert.is(credits.free, 2)
  assert.is(credits.claim(4, 1), 1, 'the last may go over')
  assert.is(credits.free, 0)
  assert.is(credits.claim(4, 1), 0)
  credits.giveBack(4)
  assert.is(credits.free, 2)
})

test('of a share there is one at least, and the rest is left for others', () => {
  const credits = makeCredits(16)
  assert.is(credits.claim(4, 1 / 2), 2)
  assert.is(credits.claim(4, 1 / 2), 1)
  assert.is(credits.claim(4, 0), 1)
  assert.is(credits.free, 0)
})

test('who waits for room is woken when there is some, or when nobody wants it any more', async () => {
  const credits = makeCredits(1)
  credits.take(2)
  let woken = 0
  const over = new AbortController()
  const waits = [credits.room(new AbortController().signal), credits.room(over.signal)].map(room =>
    room.then(() => {
      woken += 1
    }),
  )
  over.abort()
  await waits[1]
  assert.is(woken, 1)
  credits.giveBack(1)
  await Promise.resolve()
  assert.is(woken, 1, 'what went over is paid back first')
  credits.giveBack(1)
  await waits[0]
  assert.is(woken, 2)
})

test.run()
