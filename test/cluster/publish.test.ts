import type { JetStreamClient } from '@nats-io/jetstream'
import * as assert from 'uvu/assert'
import { MOST_IN_FLIGHT, makePublisher, publishSurely } from '../../src/cluster/publish.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('publishing')

/** A stream that has room for so many messages, and refuses the others, as one does that is full. */
function makeStream(room: number) {
  const clock = new VirtualClock()
  const over = new AbortController()
  const kept: string[] = []
  const tries: string[] = []
  const answers: (() => void)[] = []
  const stream = { room }
  const publish = async (_subject: string, _payload: unknown, { msgID }: { readonly msgID: string }) => {
    tries.push(msgID)
    await new Promise<void>(resolve => answers.push(resolve))
    if (kept.length >= stream.room) throw new Error('maximum bytes exceeded')
    kept.push(msgID)
  }
  const publisher = makePublisher({
    client: { publish } as unknown as JetStreamClient,
    clock,
    signal: over.signal,
    onTrouble: () => {},
  })
  const put = (id: number) => publishSurely(publisher, 'results', () => new Uint8Array(1), String(id))
  const answerAll = async () => {
    for (const answer of answers.splice(0)) answer()
    await settle()
  }
  return { stream, clock, over, kept, tries, put, answerAll }
}

const COUNT = 3 * MOST_IN_FLIGHT
const ids = Array.from({ length: COUNT }, (_, id) => id)

test('no more than so many are on their way, in the order in which they came', async () => {
  const { put, tries, kept, answerAll } = makeStream(COUNT)
  const all = Promise.all(ids.map(put))
  await settle()
  assert.is(tries.length, MOST_IN_FLIGHT)
  while (kept.length < COUNT) await answerAll()
  await all
  assert.equal(kept, ids.map(String))
  assert.is(tries.length, COUNT)
})

test('a stream that is full is not asked by those behind, and has all once there is room', async () => {
  const { put, stream, tries, kept, answerAll, clock } = makeStream(10)
  const all = Promise.all(ids.map(put))
  await settle()
  for (let round = 0; round < 3; round += 1) {
    await answerAll()
    await clock.advance(3_000)
  }
  assert.is(kept.length, 10)
  assert.is(new Set(tries).size, MOST_IN_FLIGHT + 10)
  stream.room = COUNT
  while (kept.length < COUNT) {
    await answerAll()
    await clock.advance(3_000)
  }
  await all
  assert.equal([...kept].sort(), ids.map(String).sort())
})

test('none waits any more once the trying ends', async () => {
  const { put, over, answerAll, clock, kept } = makeStream(0)
  const all = Promise.allSettled(ids.map(put))
  await settle()
  over.abort(new Error('over'))
  await answerAll()
  await clock.advance(3_000)
  assert.ok((await all).every(end => end.status === 'rejected'))
  assert.equal(kept, [])
})

test.run()
