import * as assert from 'uvu/assert'
import type { DeskMessage, WorkerLoad } from '../../actors/cluster-messages.ts'
import { makeWorkerBook } from '../../actors/worker-book.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('worker book')
const IDLE: WorkerLoad = { rollouts: 0, groups: 0, runs: 0, isDraining: false }

function makeBook() {
  const clock = new VirtualClock()
  const book = makeWorkerBook()
  return {
    clock,
    book,
    join(node: string, credits = 8): string {
      const desk: Ref<DeskMessage> = { address: `desk of ${node}`, tell: () => true }
      book.add({ node, host: 'h', owner: node, version: '1', protocol: 3, credits }, IDLE, desk, clock.now())
      return desk.address
    },
    beat: (node: string, load: Partial<WorkerLoad>) => book.beat(node, 8, { ...IDLE, ...load }, clock.now()),
    known: () => book.known({ clock, silentMs: 7_500, redeliverMs: 30_000, sandboxesOf: () => 5 }),
  }
}

test('a worker that drains, or is silent, is told to be; its rate is of the last ten seconds', async () => {
  const { clock, book, join, beat, known } = makeBook()
  const began = clock.wallTime()
  join('b')
  join('a', 4)
  for (let second = 1; second <= 20; second += 1) {
    await clock.advance(1_000)
    beat('a', { rollouts: 3, groups: 2, runs: second <= 10 ? 100 * second : 1_000 + 2 * (second - 10) })
  }
  const [first, second] = known()
  const figures = { rollouts: 3, groups: 2, credits: 8, runs: 1_020, rate: 2, sandboxes: 5 }
  assert.equal(first, {
    ...{ node: 'a', host: 'h', state: 'joined', ...figures },
    since: began,
    heardAt: began + 20_000,
  })
  assert.equal([second?.node, second?.state, second?.heardAt], ['b', 'silent', began])
  beat('b', { isDraining: true })
  assert.is(known()[1]?.state, 'draining')
  assert.is(book.credits, 16)
})

test('one that is gone stays with what it had for ten minutes, the last first, and no more when it is back', async () => {
  const { clock, book, join, beat, known } = makeBook()
  const began = clock.wallTime()
  const lost = join('lost')
  const left = join('left')
  beat('lost', { rollouts: 7, groups: 2, runs: 3 })
  await clock.advance(16_000)
  assert.is(book.gone(lost, 'lost', clock.now())?.node, 'lost')
  assert.is(book.gone(lost, 'lost', clock.now()), undefined)
  await clock.advance(1_000)
  book.gone(left, 'left', clock.now())
  assert.equal([book.size, book.credits], [0, 0])
  const told = known()
  assert.equal(
    told.map(({ node, state, goneAt }) => ({ node, state, goneAt })),
    [
      { node: 'left', state: 'left', goneAt: began + 17_000 },
      { node: 'lost', state: 'lost', goneAt: began + 16_000 },
    ],
  )
  assert.equal([told[1]?.rollouts, told[1]?.groups, told[1]?.othersAt], [7, 2, began + 30_000])
  assert.is(told[0]?.othersAt, undefined)
  join('lost')
  assert.equal(
    known().map(({ node, state }) => `${node} ${state}`),
    ['lost joined', 'left left'],
  )
  await clock.advance(600_001)
  assert.equal(
    known().map(({ node }) => node),
    ['lost'],
  )
})

test('of many that are gone the last hundred are told', () => {
  const { clock, book, join, known } = makeBook()
  for (let at = 0; at < 300; at += 1) book.gone(join(`w${at}`), 'left', clock.now())
  assert.equal([known().length, known()[0]?.node, known().at(-1)?.node], [100, 'w299', 'w200'])
})

test.run()
