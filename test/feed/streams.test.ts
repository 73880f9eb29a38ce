/** Server-sent events over real connections: readers that are slow, stuck, too many or gone. */
import { createServer, type Server } from 'node:http'
import * as assert from 'uvu/assert'
import { toErrorData } from '../../src/errors.ts'
import { makeFeedBook } from '../../src/feed/book.ts'
import { makeFeed, TICK_MS } from '../../src/feed/feed.ts'
import { type FeedStreams, HEARTBEAT_MS, makeFeedStreams } from '../../src/feed/streams.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { JOB, NOW, readEvents, runOf, runsOf, statesOf, until } from './scene.ts'

const test = suite('feed streams')

interface Scene {
  readonly clock: VirtualClock
  readonly url: string
  readonly streams: FeedStreams
  readonly isWatched: () => boolean
  /** Bytes that wait in this process for readers. */
  readonly waiting: () => number
  add(count: number): void
  /** Something long to be told, of which a state has the newest 200. */
  tell(message: string): void
}

async function serving(body: (scene: Scene) => Promise<void>, mostReaders?: number): Promise<void> {
  const clock = new VirtualClock()
  const book = makeFeedBook(JOB)
  const feed = makeFeed({ clock, book, now: () => NOW })
  const streams = makeFeedStreams(clock, mostReaders)
  const responses = new Set<{ readonly writableLength: number }>()
  const server: Server = createServer((_request, response) => {
    responses.add(response)
    try {
      streams.open(feed, response)
    } catch (error) {
      response.writeHead(503).end(toErrorData(error).tag)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  let count = 0
  try {
    await body({
      clock,
      url: `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/feed`,
      streams,
      isWatched: feed.isWatched,
      waiting: () => [...responses].reduce((sum, { writableLength }) => sum + writableLength, 0),
      add(many) {
        for (let at = 0; at < many; at += 1) {
          book.runs.add(runOf({ runId: `run-${count}` }))
          count += 1
        }
      },
      tell: message => book.problems.add({ at: 0, kind: 'test', tag: message, message: 'x'.repeat(10_000) }),
    })
  } finally {
    await Promise.all([streams.close(100), clock.advance(200)])
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await feed.close()
    assert.is(clock.pending, 0, 'no timer is left')
  }
}

test('a reader gets a state, then ticks, and a sign of life in between', () =>
  serving(async ({ clock, url, add }) => {
    add(1)
    const reader = readEvents(url)
    assert.is(await reader.status, 200)
    await until(() => reader.messages.length === 1)
    add(2)
    await clock.advance(TICK_MS)
    await until(() => runsOf(reader.messages).size === 3)
    await clock.advance(HEARTBEAT_MS)
    await until(() => reader.comments() > 0)
    reader.close()
    await reader.closed
  }))

test('a reader who does not read is spared ticks, nothing piles up for it, and it then gets a state with all of them', () =>
  serving(async ({ clock, url, tell, waiting }) => {
    const quick = readEvents(url)
    const slow = readEvents(url)
    await until(() => quick.messages.length > 0 && slow.messages.length > 0)
    slow.pause()
    const last = await tellMuch(clock, tell)
    const most = waiting()
    assert.ok(most < 5_000_000, `${most} bytes wait for readers, of 40 million that were told`)
    const knows = (reader: typeof slow) =>
      reader.messages.some(({ problems }) => problems?.some(({ tag }) => tag === last) === true)
    await until(() => knows(quick))
    assert.is(knows(slow), false)
    slow.resume()
    await until(() => knows(slow))
    assert.is(statesOf(slow.messages).at(-1)?.problems.length, 200, 'all that there is to know')
    assert.ok(slow.bytes() < 20_000_000, `it was spared most, and sent ${slow.bytes()} bytes`)
    for (const reader of [quick, slow]) {
      reader.close()
      await reader.closed
    }
  }))

test('a reader that takes nothing for a minute is cut, and one that has left is forgotten', () =>
  serving(async ({ clock, url, tell, streams, isWatched }) => {
    const stuck = readEvents(url)
    await until(() => stuck.messages.length > 0)
    stuck.pause()
    await tellMuch(clock, tell)
    await clock.advance(60_000 + HEARTBEAT_MS)
    stuck.resume()
    await stuck.closed
    await until(() => streams.size === 0)
    assert.is(isWatched(), false)
    const gone = readEvents(url)
    await until(() => gone.messages.length > 0)
    gone.close()
    await until(() => streams.size === 0)
    assert.is(isWatched(), false)
  }))

test('no more may read at a time than the limit, and the place of one who left is free', () =>
  serving(async ({ url, streams }) => {
    const two = [readEvents(url), readEvents(url)]
    await Promise.all(two.map(({ status }) => status))
    assert.is(await readEvents(url).status, 503)
    two[0]?.close()
    await until(() => streams.size === 1)
    const next = readEvents(url)
    assert.is(await next.status, 200)
    for (const reader of [...two, next]) reader.close()
    await until(() => streams.size === 0)
  }, 2))

/** More than connections hold, in less time than a reader may be stuck: 40 million bytes in 200 ticks. The last thing that was told. */
async function tellMuch(clock: VirtualClock, tell: Scene['tell']): Promise<string> {
  for (let tick = 0; tick < 200; tick += 1) {
    for (let at = 0; at < 20; at += 1) tell(`${tick}-${at}`)
    await clock.advance(TICK_MS)
  }
  return '199-19'
}

test.run()
