import * as assert from 'uvu/assert'
import { GroupBook } from '../../../src/dashboard/page/model/groups.ts'
import { findStragglers, wasStraggler } from '../../../src/dashboard/page/model/stragglers.ts'
import { suite } from '../../support/suite.ts'
import { chunk, group, live, run } from './given.ts'

const test = suite('dashboard/page: groups')

test('a group forms with its members, and is over with its end', () => {
  const book = new GroupBook()
  book.addLive(live('a', { member: 0 }))
  book.addLive(live('c', { member: 2 }))
  book.addRun(run('c', { member: 2 }))
  assert.equal(
    book.forming()[0]?.members.map(member => member?.type),
    ['running', undefined, 'ended'],
  )
  book.addEnd(group('g'))
  assert.equal([book.forming().length, book.ended().length], [0, 1])
  const taken = chunk(['g'])
  book.addChunk(taken)
  assert.is(book.get('g')?.chunk, taken)
})

test('a rollout that is still told of after its end stays ended; another attempt goes on', () => {
  const book = new GroupBook()
  book.addRun(run('a'))
  book.addLive(live('a'))
  assert.is(book.get('g')?.members[0]?.type, 'ended')
  book.addLive(live('a', { attempt: 2 }))
  assert.is(book.get('g')?.members[0]?.type, 'running')
})

test('of the groups that are over only the newest are kept, those that form all', () => {
  const book = new GroupBook()
  book.addLive(live('a', { groupId: 'forming' }))
  for (let index = 0; index < 1_000; index += 1) book.addEnd(group(`g${index}`, { endedAt: index }))
  assert.is(book.forming().length, 1)
  assert.is(book.ended().length, 600)
  assert.is(book.ended()[0]?.groupId, 'g999')
})

test('a straggler is twice as long as the median of its siblings, once half of them have ended', () => {
  const book = new GroupBook()
  book.addLive(live('late', { member: 3, startedAt: 0 }))
  book.addRun(run('a', { member: 0, endedAt: 4_000 }))
  assert.equal(findStragglers(book, 20_000), [], 'one sibling says nothing')
  book.addRun(run('b', { member: 1, endedAt: 6_000 }))
  assert.equal(findStragglers(book, 10_000), [], 'just twice as long')
  const [found] = findStragglers(book, 10_001)
  assert.equal([found?.runId, found?.medianMs, found?.elapsedMs], ['late', 5_000, 10_001])
  for (let member = 4; member < 8; member += 1) book.addLive(live(`m${member}`, { member, startedAt: 10_000 }))
  assert.equal(findStragglers(book, 10_001), [], 'most of its siblings go on')
})

test('short rollouts have no stragglers: less than a second is nothing', () => {
  const book = new GroupBook()
  book.addLive(live('late', { member: 2 }))
  book.addRun(run('a', { member: 0, endedAt: 100 }))
  book.addRun(run('b', { member: 1, endedAt: 100 }))
  assert.equal(findStragglers(book, 1_000), [])
  assert.is(findStragglers(book, 1_200).length, 1)
})

test('a run that was far beyond its siblings is known for it', () => {
  const book = new GroupBook()
  for (const [member, endedAt] of [5_000, 6_000, 30_000].entries()) book.addRun(run(`m${member}`, { member, endedAt }))
  assert.equal(
    ['m0', 'm1', 'm2'].map(id => wasStraggler(book.get('g'), id)),
    [false, false, true],
  )
})

test.run()
