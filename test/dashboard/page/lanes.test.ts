import * as assert from 'uvu/assert'
import { toTicks, toWindow } from '../../../src/dashboard/page/model/lane-window.ts'
import { LaneBook } from '../../../src/dashboard/page/model/lanes.ts'
import { suite } from '../../support/suite.ts'
import { live, run } from './given.ts'

const test = suite('dashboard/page: lanes')

const laneOf = (book: LaneBook, id: string) => book.get(id)?.lane

test('a rollout takes the first lane that is free, and keeps it', () => {
  const book = new LaneBook()
  book.setLive([live('a', { startedAt: 0 }), live('b', { startedAt: 0 }), live('c', { startedAt: 5 })], 10)
  book.addRuns([run('a', { startedAt: 0, endedAt: 20 })])
  book.setLive([live('b', { startedAt: 0 }), live('c', { startedAt: 5 }), live('d', { startedAt: 21 })], 30)
  assert.equal(
    ['a', 'b', 'c', 'd'].map(id => laneOf(book, id)),
    [0, 1, 2, 0],
  )
  assert.is(book.laneCount, 3)
})

test('two rollouts are never on one lane at one time, whatever order their ends are told in', () => {
  const book = new LaneBook()
  book.addRuns([
    run('late', { startedAt: 60, endedAt: 70 }),
    run('long', { startedAt: 0, endedAt: 100 }),
    run('early', { startedAt: 0, endedAt: 30 }),
    run('next', { startedAt: 30, endedAt: 60 }),
  ])
  const items = [...book.items()]
  for (const one of items)
    for (const other of items)
      assert.ok(
        one === other ||
          one.lane !== other.lane ||
          one.startedAt >= (other.endedAt ?? 0) ||
          other.startedAt >= (one.endedAt ?? 0),
        `${one.runId} and ${other.runId}`,
      )
  assert.is(book.laneCount, 2)
})

test('phases that were seen are kept, and replaced by the measured ones at the end', () => {
  const book = new LaneBook()
  book.setLive([live('a', { startedAt: 0, phase: 'provisioning', since: 0 })], 5)
  book.setLive([live('a', { startedAt: 0, phase: 'agent', since: 8 })], 10)
  assert.equal(book.get('a')?.stretches, [
    { phase: 'provisioning', from: 0, to: 8 },
    { phase: 'agent', from: 8, to: null },
  ])
  book.addRuns([run('a', { startedAt: 0, endedAt: 30, timings: { provisioning: 7, connecting: 2, agent: 20 } })])
  assert.equal(book.get('a')?.stretches, [
    { phase: 'provisioning', from: 0, to: 7 },
    { phase: 'connecting', from: 7, to: 9 },
    { phase: 'agent', from: 9, to: 29 },
  ])
})

test('what was over before the page came has no phase', () => {
  const book = new LaneBook()
  book.setLive([live('a', { startedAt: 0, phase: 'grading', since: 40 })], 50)
  assert.equal(book.get('a')?.stretches, [
    { phase: null, from: 0, to: 40 },
    { phase: 'grading', from: 40, to: null },
  ])
})

test('what is no longer told of has ended, and its lane is free', () => {
  const book = new LaneBook()
  book.setLive([live('a', { startedAt: 0 })], 10)
  book.setLive([live('b', { startedAt: 12 })], 12)
  assert.is(book.get('a')?.endedAt, 12)
  assert.is(laneOf(book, 'b'), 0)
})

test('another attempt goes on where the first one was, or on a lane of its own where that is taken', () => {
  const book = new LaneBook()
  book.setLive([live('a', { startedAt: 0 })], 10)
  book.setLive([], 11)
  book.setLive([live('a', { startedAt: 12, since: 12, attempt: 2 })], 13)
  assert.is(laneOf(book, 'a'), 0)
  book.setLive([], 14)
  book.setLive([live('b', { startedAt: 15, since: 15 })], 15)
  book.setLive([live('b', { startedAt: 15, since: 15 }), live('a', { startedAt: 16, since: 16, attempt: 3 })], 16)
  assert.equal([laneOf(book, 'b'), laneOf(book, 'a')], [0, 1])
})

test('what ended long ago is forgotten', () => {
  const book = new LaneBook()
  book.addRuns([run('a', { startedAt: 0, endedAt: 10 })])
  const later = live('b', { startedAt: 31 * 60_000 })
  for (let message = 0; message < 40; message += 1) book.setLive([later], 31 * 60_000)
  assert.is(book.get('a'), undefined)
})

test('a job that is over keeps its lanes, however long ago it ended', () => {
  const book = new LaneBook()
  book.addRuns([run('a', { startedAt: 0, endedAt: 10 })])
  for (let message = 0; message < 100; message += 1) book.setLive([], 1_000_000_000_000)
  assert.is(book.get('a')?.endedAt, 10)
  assert.equal(toWindow(book.items(), 1_000_000_000_000, 'auto'), { from: 10 - 5_000, to: 10 })
})

test('the window fits what goes on, and ends with the last run where nothing does', () => {
  const book = new LaneBook()
  book.setLive([live('a', { startedAt: 100_000 })], 109_000)
  assert.equal(toWindow(book.items(), 109_000, 'auto'), { from: 94_000, to: 109_000 })
  assert.equal(toWindow(book.items(), 109_000, '30 s'), { from: 79_000, to: 109_000 })
  const over = new LaneBook()
  over.addRuns([run('a', { startedAt: 1_000, endedAt: 5_000 })])
  assert.is(toWindow(over.items(), 9_999_999, '30 s').to, 5_000)
})

test('ticks stand apart, the first one at the end', () => {
  const ticks = toTicks({ from: 0, to: 30_000 }, 1_000)
  assert.equal(ticks[0], { x: 1_000, beforeMs: 0 })
  assert.equal(ticks[1], { x: 1_000 - 5_000 / 30, beforeMs: 5_000 })
  assert.ok(ticks.every(({ x }) => x >= 0))
})

test.run()
