/** One limit on creates, and several jobs whose workers draw on it: who keeps it, and what becomes of it when that one is gone. */
import * as assert from 'uvu/assert'
import { makeWorkerAccounts } from '../../src/assembly/worker-limits.ts'
import { PROTOCOL } from '../../src/cluster/wire.ts'
import type { Runtime, ShareCreates } from '../../src/runtimes/runtime.ts'
import { makeJointBucket, makeTokenBucket } from '../../src/runtimes/token-bucket.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { ACCOUNT, draw, IDLE, type LimitJob, makeJobs, makeProvider } from './support/limit-jobs.ts'

const test = suite('the keeper of an account’s limit')

const LIMIT = 40
const keepers = (jobs: readonly LimitJob[]) => jobs.map(job => job.keeper()).join()

test('the first keeps it, whatever the others are called; the next in line does when it ends, at once', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const first = start('job-c', 1)
  await clock.advance(1_100)
  const second = start('job-b', 1)
  await clock.advance(10)
  assert.is(keepers([first, second]), 'job-c,job-c', 'it is told at once')
  const third = start('job-a', 1)
  await clock.advance(1_100)
  assert.is(keepers([first, second, third]), 'job-c,job-c,job-c')
  first.end()
  await clock.advance(10)
  const [left] = [keepers([second, third])]
  assert.ok(left === 'job-a,job-a' || left === 'job-b,job-b', left)
  const fourth = start('job-0', 1)
  await clock.advance(5_000)
  assert.is(keepers([second, third, fourth]), `${left},${left?.slice(0, 5)}`)
})

test('of two that come at the same moment one keeps it, and both know which', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const jobs = [start('job-b', 1), start('job-a', 1)]
  await clock.advance(1_100)
  assert.is(keepers(jobs), 'job-a,job-a')
})

test('two jobs together send what the account may, minute after minute, and next to nothing is refused', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const provider = makeProvider(clock, LIMIT)
  const jobs = [start('job-1', 2), start('job-2', 2)]
  await clock.advance(1_100)
  const drawn = jobs.flatMap(job => job.buckets.map(bucket => draw(clock, bucket, 200, () => provider.create(bucket))))
  await clock.advance(240_000)
  assert.ok(provider.counts.refused <= 2, `${provider.counts.refused} refused`)
  assert.ok(provider.counts.admitted >= 140, `${provider.counts.admitted} in four minutes`)
  for (const { taken } of drawn) assert.ok(taken >= 15, `a fair part: ${drawn.map(each => each.taken)}`)
})

test('of two jobs that cannot hear of each other as much is refused as is admitted', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const provider = makeProvider(clock, LIMIT)
  const jobs = [start('job-1', 1), start('job-2', 1)]
  for (const job of jobs) job.isCutOff = true
  await clock.advance(1_100)
  for (const { buckets } of jobs) for (const bucket of buckets) draw(clock, bucket, 200, () => provider.create(bucket))
  await clock.advance(120_000)
  assert.ok(provider.counts.refused > LIMIT, `${provider.counts.refused} refused`)
})

for (const how of ['end', 'kill'] as const)
  test(`when the keeper’s job is gone by ${how} in the middle of a window, the other goes on within what is left of it`, async () => {
    const clock = new VirtualClock()
    const { start } = makeJobs(clock)
    const provider = makeProvider(clock, LIMIT)
    const first = start('job-1', 1)
    await clock.advance(1_100)
    const second = start('job-2', 1)
    await clock.advance(1_100)
    const [one, two] = [first, second].map(job => job.buckets[0])
    assert.ok(one !== undefined && two !== undefined)
    const drawn = draw(clock, one, 25, () => provider.create(one))
    await clock.advance(10_000)
    assert.is(drawn.taken, 25)
    first[how]()
    // It has never asked: what it knows of the window is what the other has handed over.
    const { left } = second.state.limits.book
    assert.is(left(clock.now()).at(0)?.given, 25)
    await clock.advance(4_000)
    assert.is(second.keeper(), 'job-2')
    draw(clock, two, 200, () => provider.create(two))
    await clock.advance(20_000)
    assert.equal(provider.counts, { admitted: LIMIT, refused: 0 })
    await clock.advance(60_000)
    assert.ok(provider.counts.admitted > LIMIT + 30 && provider.counts.refused <= 1, JSON.stringify(provider.counts))
  })

test('while a dead keeper is still waited for, the others go on at an equal share', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const provider = makeProvider(clock, 240)
  const first = start('job-1', 1)
  await clock.advance(1_100)
  const second = start('job-2', 1)
  await clock.advance(1_100)
  const [one, two] = [first, second].map(job => job.buckets[0])
  assert.ok(one !== undefined && two !== undefined)
  draw(clock, one, 2, () => provider.create(one))
  await clock.advance(6_000)
  draw(clock, two, 2, () => provider.create(two))
  await clock.advance(6_000)
  first.kill()
  const drawn = draw(clock, two, 1_000, () => provider.create(two))
  await clock.advance(2_100)
  assert.is(second.keeper(), 'job-1')
  assert.ok(drawn.taken >= 2 && drawn.taken <= 4, `${drawn.taken} in a bit more than a second, at two a second`)
  await clock.advance(3_000)
  assert.ok(drawn.taken > 200, `${drawn.taken}: all of it, once it keeps it itself`)
})

test('one that is cut off keeps its own; when it is back, what both have given counts', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const first = start('job-1', 1)
  await clock.advance(1_100)
  const second = start('job-2', 1)
  await clock.advance(1_100)
  const seen = { remaining: LIMIT - 1, limit: LIMIT, resetInMs: 60_000 }
  assert.is((await Promise.race([first.answer({ account: ACCOUNT, wanted: 4, seen }), clock.advance(50)]))?.tokens, 4)
  await clock.advance(1_100)
  first.isCutOff = true
  await clock.advance(5_000)
  assert.is(keepers([first, second]), 'job-1,job-2')
  assert.is((await second.answer({ account: ACCOUNT, wanted: 20 })).tokens, 20)
  first.isCutOff = false
  await clock.advance(2_100)
  assert.is(keepers([first, second]), 'job-1,job-1')
  for (const { state } of [first, second])
    assert.is(state.limits.book.left(clock.now())[0]?.given, 24, 'four and twenty')
})

test('a Retry-After of one job’s worker holds those of the others', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const jobs = [start('job-1', 1), start('job-2', 1), start('job-3', 2)]
  await clock.advance(1_100)
  jobs[1]?.buckets[0]?.pause(clock.now() + 30_000)
  await clock.advance(10)
  for (const { buckets, node } of jobs)
    for (const bucket of buckets) assert.ok(bucket.nextAt(clock.now()) > clock.now() + 29_000, node)
})

test('what a worker of another job has not used goes back to the keeper', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const first = start('job-1', 1)
  await clock.advance(1_100)
  const second = start('job-2', 1)
  await clock.advance(1_100)
  const seen = { remaining: LIMIT - 1, limit: LIMIT, resetInMs: 60_000 }
  first.state.limits.book.take({ account: ACCOUNT, wanted: 0, seen }, 1, clock.now())
  const given = () => first.state.limits.book.left(clock.now())[0]?.given
  second.buckets[0]?.nextAt(clock.now())
  await clock.advance(10)
  await settle()
  assert.is(given(), 1)
  await clock.advance(1_100)
  assert.is(given(), 0)
})

test('one of another protocol is not heard', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const job = start('job-1', 1)
  await clock.advance(1_100)
  const sign = {
    protocol: PROTOCOL,
    node: 'job-0',
    dispatcher: 'job-0/d',
    rank: 1,
    isOver: false,
    workers: [],
    accounts: [],
  }
  job.hear({ ...sign, protocol: PROTOCOL - 1 })
  assert.is(job.keeper(), 'job-1')
  job.hear(sign)
  assert.is(job.keeper(), 'job-0')
})

test('a worker of two jobs has one bucket of their account, counts once, and is answered by the other job when one is silent', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const jobs = new Map([start('job-1', 1), start('job-2', 1)].map(job => [job.node, job]))
  await clock.advance(1_100)
  const asked: string[] = []
  const system: Parameters<typeof makeWorkerAccounts>[0] = {
    ask(ref, question) {
      asked.push(ref.address)
      return (jobs.get(ref.address)?.answer(question as never) ?? Promise.reject(new Error('silent'))) as never
    },
  }
  const accounts = makeWorkerAccounts(system, clock, new AbortController().signal)
  const joint = makeJointBucket(makeTokenBucket(undefined))
  const runtime = { shareCreates: (share: ShareCreates) => void joint.join(share(ACCOUNT)) } as unknown as Runtime
  for (const address of jobs.keys()) {
    accounts.join({ address, tell: () => true })
    accounts.shared(runtime)
  }
  const [first, second] = [...jobs.values()]
  assert.ok(first !== undefined && second !== undefined)
  const { book } = first.state.limits
  const seen = { remaining: LIMIT - 1, limit: LIMIT, resetInMs: 60_000 }
  book.take({ account: ACCOUNT, wanted: 0, seen }, 1, clock.now())
  const drawn = draw(clock, joint, 20, () => {})
  await clock.advance(100)
  assert.is(drawn.taken, 20)
  assert.equal(new Set(asked), new Set(['job-1']))
  assert.ok((book.left(clock.now())[0]?.given ?? 0) <= 20 + 16, 'a token for a create, and a batch that is not used up')
  await clock.advance(2_000)
  first.kill()
  jobs.delete('job-1')
  await clock.advance(4_000)
  const more = draw(clock, joint, 5, () => {})
  await clock.advance(1_200)
  assert.is(more.taken, 5)
  assert.is(asked.at(-1), 'job-2')
})

test('workers of several jobs count once each', async () => {
  const clock = new VirtualClock()
  const { start } = makeJobs(clock)
  const jobs = [start('job-1', 0), start('job-2', 0)]
  for (const { state } of jobs)
    for (const node of ['worker-a', 'worker-b']) {
      const desk = { address: `${node}/desk#1`, tell: () => true }
      const note = { node, host: 'here', owner: node, version: '1', protocol: 1, credits: 8 }
      state.workers.add(note, IDLE, desk, 0)
    }
  await clock.advance(2_100)
  const asks = jobs.map(job => job.answer({ account: ACCOUNT, wanted: 1 }))
  await clock.advance(10)
  assert.equal(
    (await Promise.all(asks)).map(given => given.workers),
    [2, 2],
  )
})

test.run()
