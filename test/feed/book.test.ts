import * as assert from 'uvu/assert'
import { MOST_KEPT, makeFeedBook } from '../../src/feed/book.ts'
import { makeNewest } from '../../src/feed/newest.ts'
import { makeRate } from '../../src/feed/rate.ts'
import { applyTick, loadState } from '../../src/feed/relay.ts'
import { suite } from '../support/suite.ts'
import { JOB, NOW, runOf } from './scene.ts'

const test = suite('feed book')

test('a list keeps its newest items, and a take has what came since, once', () => {
  const list = makeNewest<number>(3, 2)
  for (const item of [1, 2]) list.add(item)
  assert.equal(list.take(), [1, 2])
  assert.equal(list.take(), [])
  for (const item of [3, 4, 5, 6, 7]) list.add(item)
  assert.equal(list.all(), [5, 6, 7])
  assert.equal(list.take(), [6, 7], 'a tick carries no more than it may')
  assert.equal(list.take(), [])
  list.clear()
  assert.equal([list.all(), list.take()], [[], []])
})

test('however much happens, what is kept for newcomers is bounded', () => {
  const book = makeFeedBook(JOB)
  for (let at = 0; at < MOST_KEPT.runs * 2 + 17; at += 1) book.runs.add(runOf({ runId: `run-${at}` }))
  const { runs } = book.state(0, NOW)
  assert.is(runs.length, MOST_KEPT.runs)
  assert.is(runs.at(-1)?.runId, `run-${MOST_KEPT.runs * 2 + 16}`)
  assert.is(book.take().runs?.length, 500)
})

test('a tick holds what is new, and nothing where nothing is', () => {
  const book = makeFeedBook(JOB)
  assert.equal(book.take(), {})
  book.runs.add(runOf())
  book.setLive([])
  book.setSource('over')
  assert.equal(book.take(), { source: 'over', runs: [runOf()] })
  assert.equal(book.take(), {})
  book.setSource('over')
  assert.equal(book.take(), {}, 'what was known is not told again')
  const live = [
    { runId: 'r', groupId: 'g', slug: 's', step: 0, member: 0, attempt: 1, phase: 'agent', startedAt: 1, since: 2 },
  ] as const
  book.setLive(live)
  assert.equal(book.take(), { live })
  book.setLive([])
  assert.equal(book.take(), { live: [] }, 'that nothing goes on any more is news')
})

test('failures are counted by kind, with the first example of each, and a reward of 0 is none', () => {
  const book = makeFeedBook(JOB)
  const failed = { reward: null, outcome: 'infrastructure-error', stopReason: 'sandbox-lost' } as const
  book.failures.add(runOf({ reward: 0 }), undefined)
  book.failures.add(runOf({ ...failed, runId: 'a', error: 'it went', failedPhase: 'agent' }), 'lease-lost')
  book.failures.add(runOf({ ...failed, runId: 'b' }), 'lease-lost')
  book.failures.add(runOf({ ...failed, runId: 'c' }), undefined)
  const [lost, untold] = book.take().failures ?? []
  assert.equal([lost?.kind, lost?.count, lost?.first.runId, lost?.first.message], ['lease-lost', 2, 'a', 'it went'])
  assert.equal([untold?.kind, untold?.count, untold?.first.phase], ['sandbox-lost', 1, null])
  book.failures.add(runOf({ ...failed, runId: 'd' }), undefined)
  assert.equal(
    book.take().failures?.map(({ kind, count }) => [kind, count]),
    [['sandbox-lost', 2]],
  )
  for (let at = 0; at < 200; at += 1) book.failures.add(runOf({ ...failed, runId: `x${at}` }), `tag-${at}`)
  assert.ok(book.failures.all().length <= 65, 'kinds without end are one')
})

test('a state that came from elsewhere makes the same state, and ticks go on from it', () => {
  const from = makeFeedBook(JOB)
  for (let at = 0; at < 20; at += 1) from.runs.add(runOf({ runId: `run-${at}`, reward: at % 2 === 0 ? 1 : null }))
  from.failures.add(runOf({ reward: null }), 'lost')
  const to = makeFeedBook({ ...JOB, jobId: 'other' })
  to.runs.add(runOf({ runId: 'of before' }))
  loadState(to, from.state(5, NOW))
  from.take()
  from.runs.add(runOf({ runId: 'run-20' }))
  from.failures.add(runOf({ reward: null }), 'lost')
  from.setSource('over')
  applyTick(to, from.take())
  assert.equal(to.state(5, NOW), from.state(5, NOW))
})

test('the rate is of the last ten seconds, whenever it is asked for', () => {
  const rate = makeRate()
  const start = 1_700_000_000_000
  assert.is(rate.at(start), 0)
  for (let at = 0; at < 40; at += 1) rate.add(start + at * 100)
  assert.is(rate.at(start + 4_000), 4)
  assert.is(rate.at(start + 9_000), 4)
  assert.ok(rate.at(start + 12_000) < 4)
  assert.is(rate.at(start + 60_000), 0)
  rate.add(start)
  assert.is(rate.at(start + 60_000), 0, 'what is long over changes nothing')
})

test.run()
