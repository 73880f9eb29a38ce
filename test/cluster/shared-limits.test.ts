/** One limit on creates, and several workers that draw on it. */
import * as assert from 'uvu/assert'
import { makeLimitBook } from '../../src/cluster/limit-book.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { ACCOUNT, draw, type LimitJob, makeJobs, makeProvider } from './support/limit-jobs.ts'

const test = suite('a limit that workers share')

/** One job. */
function makeScene(workers: number): { readonly clock: VirtualClock; readonly job: LimitJob } {
  const clock = new VirtualClock()
  return { clock, job: makeJobs(clock).start('job-1', workers) }
}

test('two workers together send what one account may, minute after minute, and next to nothing is refused', async () => {
  const { clock, job } = makeScene(2)
  const provider = makeProvider(clock, 40)
  const drawn = job.buckets.map(bucket => draw(clock, bucket, 200, () => provider.create(bucket)))
  for (let minute = 1; minute <= 4; minute += 1) {
    await clock.advance(60_000)
    assert.ok(provider.counts.refused <= 2, `${provider.counts.refused} refused in minute ${minute}`)
  }
  // None of it is wasted, but for the moments in which a window is found to be over.
  assert.ok(provider.counts.admitted >= 140, `${provider.counts.admitted} in four minutes`)
  for (const { taken } of drawn) assert.ok(taken >= 50, `a fair part: ${drawn.map(each => each.taken)}`)
})

test('a provider that tells of no limit is drawn on without one', async () => {
  const { clock, job } = makeScene(2)
  const [drawn] = job.buckets.map(bucket => draw(clock, bucket, 1_000, () => {}))
  await clock.advance(400)
  assert.ok((drawn?.taken ?? 0) <= 1, 'not before anybody can know')
  await clock.advance(8_000)
  assert.is(drawn?.taken, 1_000)
})

test('what a worker that dies has taken is there again with the next window', () => {
  const book = makeLimitBook()
  const seen = { remaining: 9, limit: 10, resetInMs: 60_000 }
  const given = [0, 1, 2, 3, 4, 5].map(now => book.take({ account: ACCOUNT, wanted: 64, seen }, 2, now).tokens)
  assert.equal(given, [5, 2, 1, 1, 0, 0])
  assert.is(book.take({ account: ACCOUNT, wanted: 64 }, 2, 60_100).tokens, 5)
})

test('others have what a worker has not used, but not more than the provider has', () => {
  const book = makeLimitBook()
  const take = (remaining: number, now: number) =>
    book.take({ account: ACCOUNT, wanted: 64, seen: { remaining, limit: 10, resetInMs: 60_000 - now } }, 1, now)
  const { tokens, window } = take(9, 0)
  assert.is(tokens, 9)
  book.giveBack({ account: ACCOUNT, tokens: 9, window })
  assert.is(take(4, 1).tokens, 4, 'somebody else has used five')
  book.giveBack({ account: ACCOUNT, tokens: 4, window: window - 1 })
  assert.is(take(4, 2).tokens, 0, 'of a window that is over')
})

test('when one is told to stay away, all do, and none of them asks meanwhile', async () => {
  const { clock, job } = makeScene(2)
  const { buckets } = job
  const { book } = job.state.limits
  const [told, other] = buckets
  book.take({ account: ACCOUNT, wanted: 0, seen: { remaining: 100, limit: 100, resetInMs: 60_000 } }, 2, 0)
  assert.is(other?.take(0), false)
  await settle()
  assert.is(other?.nextAt(0), 0, 'it has a token')
  told?.pause(5_000)
  assert.is(other?.take(0), false)
  assert.is(other?.nextAt(0), 5_000)
  assert.is(book.take({ account: ACCOUNT, wanted: 1 }, 2, 4_999).tokens, 0, 'one that joins now')
  await clock.advance(5_000)
  other?.nextAt(clock.now())
  await settle()
  assert.is(other?.take(clock.now()), true)
})

test('one that gets no answer goes on with an equal share, and with the whole once it is answered again', async () => {
  const { clock, job } = makeScene(3)
  const [bucket] = job.buckets
  if (bucket === undefined) return
  const seen = { remaining: 120, limit: 120, resetInMs: 60_000 }
  job.state.limits.book.take({ account: ACCOUNT, wanted: 0, seen }, 3, 0)
  bucket.take(0)
  await settle()
  assert.is(bucket.take(0), true, 'it has heard of the limit and of the other two')
  const { answer } = job
  job.answer = () => Promise.reject(new Error('nobody there'))
  const alone = draw(clock, bucket, 1_000, () => {})
  await clock.advance(60_000)
  assert.ok(alone.taken >= 38 && alone.taken <= 41, `${alone.taken} of 120 a minute, of three workers`)
  job.answer = answer
  await clock.advance(3_000)
  assert.ok(alone.taken > 100, `${alone.taken} with the others idle`)
})

test('one that has never had an answer is not stopped by that', async () => {
  const { clock, job } = makeScene(2)
  const [bucket] = job.buckets
  if (bucket === undefined) return
  job.answer = () => Promise.reject(new Error('nobody there'))
  const alone = draw(clock, bucket, 1_000, () => {})
  await clock.advance(10_000)
  assert.ok(alone.taken >= 9 && alone.taken <= 11, `${alone.taken} in ten seconds`)
})

test.run()
