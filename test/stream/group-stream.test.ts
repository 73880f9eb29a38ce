import { lastValueFrom, take, toArray } from 'rxjs'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { chunkGroups, makeGroupStream, makeWaitingBytes, processChunks } from '../../src/stream/index.ts'
import { collect } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { makeGroup } from './fixtures.ts'

const test = suite('group stream')

function setup(limitBytes = 1_000) {
  const waiting = makeWaitingBytes(limitBytes)
  let cancels = 0
  const source = makeGroupStream({
    waiting,
    onCancel: () => {
      cancels += 1
    },
  })
  return { ...source, waiting, cancels: () => cancels }
}

const group = (index: number) => makeGroup({ index })

test('an iterator that starts late gets everything, and takes by pulling', async () => {
  const { push, complete, stream, waiting, cancels } = setup()
  push(group(0))
  push(group(1))
  assert.is(waiting.bytes, 40)
  const iterator = stream[Symbol.asyncIterator]()
  assert.is((await iterator.next()).value.index, 0)
  assert.is(waiting.bytes, 20)
  assert.is((await iterator.next()).value.index, 1)
  const third = iterator.next()
  push(group(2))
  complete()
  assert.is((await third).value.index, 2)
  assert.is(waiting.bytes, 0)
  assert.is((await iterator.next()).done, true)
  assert.is((await iterator.next()).done, true)
  assert.is(cancels(), 0)
})

test('a subscriber that starts late gets everything, and takes by returning', () => {
  const { push, complete, stream, waiting } = setup()
  push(group(0))
  const seen: (number | string)[] = []
  stream.subscribe({
    next: ({ index }) => seen.push(index, waiting.bytes),
    complete: () => seen.push('complete'),
  })
  push(group(1))
  complete()
  push(group(2))
  assert.equal(seen, [0, 20, 1, 20, 'complete'])
  assert.is(waiting.bytes, 0)
})

test('giving up cancels once and lets go of what waits', async () => {
  const left = setup()
  for (const index of [0, 1, 2]) left.push(group(index))
  for await (const { index } of left.stream) if (index === 1) break
  assert.is(left.cancels(), 1)
  assert.is(left.waiting.bytes, 0)
  left.push(group(3))
  assert.is(left.waiting.bytes, 0)

  const taken = setup()
  for (const index of [0, 1, 2]) taken.push(group(index))
  const first = await lastValueFrom(taken.stream.pipe(take(1), toArray()))
  assert.is(first.length, 1)
  assert.is(taken.cancels(), 1)
  assert.is(taken.waiting.bytes, 0)

  const unsubscribed = setup()
  const subscription = unsubscribed.stream.subscribe()
  subscription.unsubscribe()
  subscription.unsubscribe()
  assert.is(unsubscribed.cancels(), 1)
})

test('leaving a loop ends a pull that waits', async () => {
  const { stream } = setup()
  const iterator = stream[Symbol.asyncIterator]()
  const waiting = iterator.next()
  await iterator.return?.()
  assert.is((await waiting).done, true)
})

test('an error comes after the groups before it, on both sides', async () => {
  const pulled = setup()
  pulled.push(group(0))
  pulled.error(new Error('engine'))
  const seen: number[] = []
  try {
    for await (const { index } of pulled.stream) seen.push(index)
    assert.unreachable()
  } catch (error) {
    assert.match(String(error), 'engine')
  }
  assert.equal(seen, [0])
  assert.is(pulled.cancels(), 0)

  const pushed = setup()
  pushed.error(new Error('engine'))
  let failure: unknown
  pushed.stream.subscribe({ error: error => (failure = error) })
  assert.match(String(failure), 'engine')
})

test('there is one consumer: a second is told so', async () => {
  const { stream } = setup()
  stream.subscribe()
  let failure: unknown
  stream.subscribe({ error: error => (failure = error) })
  assert.ok(hasTag(failure, 'stream-taken'))
  assert.throws(() => stream[Symbol.asyncIterator]())
})

test('a group pushed from within the consumer keeps its place', () => {
  const { push, complete, stream } = setup()
  const seen: number[] = []
  stream.subscribe(({ index }) => {
    if (index === 0) {
      push(group(2))
      complete()
    }
    seen.push(index)
  })
  push(group(0))
  assert.equal(seen, [0, 2])
})

test('chunks count as waiting until their handler is done', async () => {
  const { push, complete, stream, waiting } = setup(40)
  const doors: (() => void)[] = []
  const done = lastValueFrom(
    stream.pipe(
      chunkGroups({ maxTrajectories: 2 }),
      processChunks(chunk => new Promise<number>(resolve => doors.push(() => resolve(chunk.index)))),
      toArray(),
    ),
  )
  for (const index of [0, 1, 2]) push(group(index))
  complete()
  assert.is(waiting.bytes, 60)
  assert.is(waiting.full, true)
  const left: number[] = []
  const stop = waiting.onRoom(() => left.push(waiting.bytes))
  for (let chunk = 0; chunk < 3; chunk += 1) {
    while (doors.length === 0) await new Promise(setImmediate)
    assert.is(doors.length, 1)
    doors.shift()?.()
  }
  assert.equal(await done, [0, 1, 2])
  assert.is(waiting.bytes, 0)
  assert.equal(left, [20])
  stop()
})

test('a handler that fails ends the stream, cancels the rest and holds nothing back', async () => {
  const { push, stream, waiting, cancels } = setup()
  for (const index of [0, 1, 2]) push(group(index))
  const failing = stream.pipe(
    chunkGroups({ maxTrajectories: 2 }),
    processChunks(() => Promise.reject(new Error('trainer'))),
  )
  let failure: unknown
  await new Promise<void>(resolve => {
    failing.subscribe({
      error: error => {
        failure = error
        resolve()
      },
    })
  })
  assert.match(String(failure), 'trainer')
  await new Promise(setImmediate)
  assert.is(waiting.bytes, 0)
  assert.is(cancels(), 1)
})

test('a stream that is already over is read to its end', async () => {
  const { push, complete, stream } = setup()
  push(group(0))
  complete()
  assert.is((await collect(stream)).length, 1)
})

test.run()
