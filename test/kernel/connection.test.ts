import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { DeadLetter } from '../../src/kernel/dead-letters.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { type CounterMessage, count, counter, recorder } from './actors.ts'
import { makeLinkPair } from './link-pair.ts'

const test = suite('connection')

function makeNodes() {
  const letters: DeadLetter[] = []
  const clock = new VirtualClock()
  const onDeadLetter = (letter: DeadLetter) => letters.push(letter)
  const left = makeSystem({ node: 'left', clock, onDeadLetter })
  const right = makeSystem({ node: 'right', clock, onDeadLetter })
  const [leftEnd, rightEnd] = makeLinkPair('left', 'right')
  const leftConnection = left.connect(leftEnd)
  const rightConnection = right.connect(rightEnd)
  const stop = async () => {
    await left.stop()
    await right.stop()
  }
  return { left, right, leftEnd, rightEnd, leftConnection, rightConnection, letters, clock, stop }
}

test('tells and questions cross in order, in batches and alone', async () => {
  const { left, right, stop } = makeNodes()
  const heard: number[] = []
  const far: Ref<number> = left.ref(right.spawn(recorder(heard)).address)
  for (let number = 0; number < 2_000; number += 1) far.tell(number)
  await settle()
  far.tell(2_000)
  await settle()
  assert.equal(
    heard,
    Array.from({ length: 2_001 }, (_, number) => number),
  )
  const asked: Ref<CounterMessage> = left.ref(right.spawn(counter()).address)
  asked.tell({ type: 'add' })
  assert.is(await left.ask(asked, count, 1_000), 1)
  await stop()
})

test('what reaches nobody at the other end rejects its question at once and is counted there', async () => {
  const { left, right, stop } = makeNodes()
  for (const [address, reason] of [
    ['right/nobody#99', 'unknown'],
    [right.spawn({ ...counter(), capacity: 0 }).address, 'mailbox-full'],
  ] as const) {
    const error = await left.ask(left.ref<CounterMessage>(address), count, 60_000).catch(thrown => thrown)
    assert.ok(hasTag(error, 'dead-letter'))
    assert.is(error.data.details?.reason, reason)
  }
  assert.equal(right.deadLetters().byReason, { unknown: 1, 'mailbox-full': 1 })
  await stop()
})

test('one message that cannot be packed does not keep the rest of its batch', async () => {
  const { left, right, letters, stop } = makeNodes()
  const heard: unknown[] = []
  const far: Ref<unknown> = left.ref(right.spawn(recorder(heard)).address)
  for (const value of [1, 2, () => 0, 3]) far.tell(value)
  const open = left.ask(left.ref<CounterMessage>(far.address), { ...count, code: () => 0 } as typeof count, 60_000)
  const error = await open.catch(thrown => thrown)
  await settle()
  assert.equal(heard, [1, 2, 3])
  assert.is(error.data.details.reason, 'not-data')
  assert.equal(
    letters.map(({ reason }) => reason),
    ['not-data', 'not-data'],
  )
  await stop()
})

test('a batch that cannot be read is counted and seen, and the link goes on', async () => {
  const { left, right, leftEnd, letters, stop } = makeNodes()
  leftEnd.post(Uint8Array.of(9, 9, 9, 9, 9), [])
  await settle()
  assert.is(letters[0]?.reason, 'undecodable')
  assert.is(letters[0]?.address, 'left')
  assert.is(letters[0]?.error?.tag, 'malformed-batch')
  const far: Ref<CounterMessage> = left.ref(right.spawn(counter()).address)
  assert.is(await left.ask(far, count, 1_000), 0)
  await stop()
})

test('a watcher hears across the link that an actor stopped, is unknown, or went with the link', async () => {
  const { left, right, leftEnd, leftConnection, stop } = makeNodes()
  const stopping = right.spawn<undefined, 'stop'>({
    name: 'stops',
    initial: () => undefined,
    receive(state, _message, context) {
      context.stop()
      return state
    },
  })
  const staying = right.spawn(counter())
  const terminated = left.terminated(left.ref(stopping.address))
  const lost = left.terminated(left.ref(staying.address))
  assert.equal(await left.terminated(left.ref('right/nobody#99')), { type: 'unknown' })
  stopping.tell('stop')
  assert.equal(await terminated, { type: 'stopped' })
  const open = left
    .ask(left.ref<CounterMessage>(right.spawn(recorder([])).address), count, 60_000)
    .catch(error => error)
  leftEnd.fail()
  assert.is((await lost).type, 'link-down')
  assert.ok(hasTag(await open, 'link-down'))
  assert.is((await leftConnection.closed)?.tag, 'link-down')
  assert.is(left.ref<CounterMessage>(staying.address).tell({ type: 'add' }), false)
  const after = await left.ask(left.ref<CounterMessage>(staying.address), count, 60_000).catch(error => error)
  assert.ok(hasTag(after, 'link-down'))
  assert.is(after.data.address, staying.address)
  await stop()
})

test('an answer that comes after the deadline is a dead letter here', async () => {
  const { left, right, clock, stop } = makeNodes()
  let answerTo: Ref<unknown> | undefined
  const slow = right.spawn<undefined, CounterMessage>({
    name: 'slow',
    initial: () => undefined,
    receive(state, _message, context) {
      answerTo = context.replyTo
      return state
    },
  })
  const open = left.ask(left.ref<CounterMessage>(slow.address), count, 100).catch(error => error)
  await settle()
  await clock.advance(100)
  assert.ok(hasTag(await open, 'ask-timeout'))
  answerTo?.tell(1)
  await settle()
  assert.equal(left.deadLetters().byReason, { 'late-reply': 1 })
  await stop()
})

test('a second link to the same peer is refused', async () => {
  const { left, stop } = makeNodes()
  const [again] = makeLinkPair('left', 'right')
  assert.throws(
    () => left.connect(again),
    (error: unknown) => hasTag(error, 'already-connected'),
  )
  await stop()
})

test('two nodes without a link reach, ask and watch each other through the one both know', async () => {
  const hub = makeSystem({ node: 'hub' })
  const [first, second] = ['first', 'second'].map(node => {
    const system = makeSystem({ node })
    const [hubEnd, end] = makeLinkPair('hub', node, { uplink: true })
    const connection = hub.connect(hubEnd)
    system.connect(end)
    return { system, connection }
  }) as [
    { system: typeof hub; connection: ReturnType<typeof hub.connect> },
    { system: typeof hub; connection: ReturnType<typeof hub.connect> },
  ]
  const ref: Ref<CounterMessage> = first.system.ref(second.system.spawn(counter()).address)
  ref.tell({ type: 'add' })
  assert.is(await first.system.ask(ref, count, 1_000), 1)
  const nobody = first.system.ref<CounterMessage>('second/nobody#99')
  const error = await first.system.ask(nobody, count, 60_000).catch(thrown => thrown)
  assert.ok(hasTag(error, 'dead-letter'))
  const terminated = first.system.terminated(ref)
  await settle()
  second.connection.close()
  assert.is((await terminated).type, 'link-down')
  const gone = await first.system.ask(ref, count, 60_000).catch(thrown => thrown)
  assert.ok(hasTag(gone, 'dead-letter'))
  assert.is(gone.data.details?.reason, 'link-down')
  for (const system of [first.system, second.system, hub]) await system.stop()
})

test.run()
