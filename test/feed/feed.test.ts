import * as assert from 'uvu/assert'
import { makeFeedBook } from '../../src/feed/book.ts'
import { makeFeed, TICK_MS } from '../../src/feed/feed.ts'
import { readFeed } from '../../src/feed/read-feed.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { JOB, NOW, runOf, runsOf, statesOf, ticksOf, watch } from './scene.ts'

const test = suite('feed')

function makeScene(
  given: { begin?: () => Promise<void>; end?: () => Promise<void>; refresh?: () => Promise<void> } = {},
) {
  const clock = new VirtualClock()
  const book = makeFeedBook(JOB)
  const feed = makeFeed({ clock, book, now: () => NOW, ...given })
  let count = 0
  const add = (many = 1) => {
    for (let at = 0; at < many; at += 1) {
      book.runs.add(runOf({ runId: `run-${count}` }))
      count += 1
    }
  }
  return { clock, book, feed, add }
}

test('while nobody watches there is no timer, and when the last has left there is none any more', async () => {
  const { clock, feed, add } = makeScene()
  add(3)
  assert.is(clock.pending, 0)
  const one = watch(feed)
  const two = watch(feed)
  await settle()
  assert.is(clock.pending, 1, 'one for all of them')
  one.stop()
  await clock.advance(TICK_MS)
  assert.is(clock.pending, 1)
  two.stop()
  two.stop()
  assert.is(clock.pending, 0)
  await clock.advance(10 * TICK_MS)
  assert.is(feed.isWatched(), false)
})

test('a state comes first, then ticks with what is new: at most four a second, everything once', async () => {
  const { clock, feed, add } = makeScene()
  add(2)
  const { messages } = watch(feed)
  await settle()
  assert.is(statesOf(messages).length, 1)
  for (let at = 0; at < 100; at += 1) {
    add()
    await clock.advance(10)
  }
  assert.ok(ticksOf(messages).length <= 4, `${ticksOf(messages).length} ticks in a second`)
  await clock.advance(TICK_MS)
  assert.is(runsOf(messages).size, 102)
})

test('a newcomer, and one who asks again, get a state in which nothing is missing and after which nothing comes twice', async () => {
  const { clock, feed, add } = makeScene()
  const first = watch(feed)
  await settle()
  await clock.advance(100)
  add(5)
  const second = watch(feed)
  assert.is(statesOf(second.messages)[0]?.runs.length, 5)
  add(2)
  first.again()
  assert.is(statesOf(first.messages).at(-1)?.runs.length, 7)
  add(3)
  await clock.advance(TICK_MS)
  for (const { messages } of [first, second]) assert.is(runsOf(messages).size, 10)
})

test('a message is made into JSON once, however many are told', async () => {
  const { clock, feed, add } = makeScene()
  const one = watch(feed)
  const two = watch(feed)
  await settle()
  add()
  await clock.advance(TICK_MS)
  assert.ok(one.told.at(-1) === two.told.at(-1))
  assert.equal(JSON.parse(one.told.at(-1)?.text ?? ''), JSON.parse(JSON.stringify(one.messages.at(-1))))
})

test('a feed that must be filled first begins with the first watcher, ends with the last, and can begin again', async () => {
  const log: string[] = []
  let fill = () => {}
  const { feed, add } = makeScene({
    begin: () => {
      log.push('begin')
      return new Promise(resolve => {
        fill = resolve
      })
    },
    end: async () => void log.push('end'),
  })
  const early = watch(feed)
  await settle()
  early.stop()
  fill()
  await settle()
  assert.equal(early.messages, [], 'who has left is told nothing')
  const { messages, stop } = watch(feed)
  await settle()
  assert.equal(messages, [], 'there is nothing to show yet')
  add(4)
  fill()
  await settle()
  assert.is(statesOf(messages)[0]?.runs.length, 4)
  stop()
  assert.equal(log, ['begin', 'end', 'begin', 'end'])
  await feed.close()
})

test('what is to be asked for is asked before each tick, one question at a time, and late answers delay no one else', async () => {
  let open = 0
  let asked = 0
  let answer = () => {}
  const { clock, feed } = makeScene({
    refresh: () => {
      asked += 1
      open += 1
      assert.is(open, 1)
      return new Promise(resolve => {
        answer = () => {
          open -= 1
          resolve()
        }
      })
    },
  })
  const { messages, stop } = watch(feed)
  await clock.advance(TICK_MS * 4)
  assert.equal([asked, ticksOf(messages).length], [1, 0])
  answer()
  await settle()
  assert.is(ticksOf(messages).length, 1)
  await clock.advance(TICK_MS)
  assert.is(asked, 2)
  stop()
  answer()
  await settle()
  assert.is(clock.pending, 0)
  assert.is(ticksOf(messages).length, 1, 'who has left is told nothing')
})

test('of a job that is over nothing more is told, and a newcomer still gets all of it', async () => {
  const { clock, book, feed, add } = makeScene()
  const { messages } = watch(feed)
  await settle()
  add()
  book.setSource('over')
  await clock.advance(TICK_MS)
  assert.is(ticksOf(messages).at(-1)?.source, 'over')
  const before = messages.length
  await clock.advance(TICK_MS * 10)
  assert.is(messages.length, before)
  const late = watch(feed)
  assert.equal([statesOf(late.messages)[0]?.job.source, statesOf(late.messages)[0]?.runs.length], ['over', 1])
  await feed.close()
  assert.is(clock.pending, 0)
})

test('as an iterable it piles nothing up for a reader who is busy, who gets a state instead', async () => {
  const { clock, feed, add } = makeScene()
  const leaving = new AbortController()
  const reader = readFeed(feed, leaving.signal)
  const first = await reader.next()
  assert.is(first.value?.type, 'state')
  for (let at = 0; at < 40; at += 1) {
    add()
    await clock.advance(TICK_MS)
  }
  const messages = [first.value]
  for (let at = 0; at < 16; at += 1) messages.push((await reader.next()).value)
  const next = reader.next()
  await settle()
  messages.push((await next).value)
  assert.is(messages.at(-1)?.type, 'state')
  assert.is(runsOf(messages.flatMap(message => message ?? [])).size, 40)
  leaving.abort()
  assert.is((await reader.next()).done, true)
  assert.is(clock.pending, 0)
})

test.run()
