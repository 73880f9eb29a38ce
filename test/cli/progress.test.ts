import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { armInterrupt } from '../../src/cli/interrupt.ts'
import { describeProgress, showProgress } from '../../src/cli/progress.ts'
import type { JobSnapshot } from '../../src/job/snapshot.ts'
import { describePool, renderPool } from '../../src/report/pool.ts'
import { makeSnapshot } from '../report/scene.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('cli progress')

const pool: NonNullable<JobSnapshot['pool']> = {
  strategy: 'prewarm',
  source: 'create',
  target: 8,
  creating: 0,
  ready: 3,
  leased: 5,
  deleting: 0,
  quarantined: 0,
  parents: { kept: 0, forking: 0 },
  waiting: 0,
  created: 8,
  gone: 0,
  createFailures: 0,
  leases: { hit: 5, cold: 0, claim: 0, fork: 0 },
  breaker: undefined,
}
const at = (finishedRuns: number): JobSnapshot =>
  makeSnapshot([], 0, { plannedRuns: 20, finishedRuns, graded: finishedRuns - 1, rewardSum: 3, inFlight: 5, pool })

test('a line tells rate, time left, reward, failures and sandboxes', () => {
  assert.is(
    describeProgress(at(5), 2_000),
    '2.5/s, eta 6.00 s, reward 0.75, 1 failed, 5 in flight, sandboxes 3 ready 5 leased, leases 5 hit',
  )
  const stopped = { ...pool, breaker: { tag: 'pool-stopped', message: 'creates keep failing' } }
  assert.is(
    describeProgress(makeSnapshot([], 0, { plannedRuns: 20, pool: stopped }), 0),
    '0.0/s, eta –, reward –, 0 failed, 0 in flight, sandboxes 3 ready 5 leased, leases 5 hit, pool stopped: creates keep failing',
  )
})

test('claims, forks and the provider’s own pool are told where there are any', () => {
  const forks = {
    ...pool,
    source: 'fork',
    parents: { kept: 4, forking: 2 },
    leases: { hit: 5, cold: 2, claim: 0, fork: 3 },
  } as const
  assert.is(
    describePool(forks).join(', '),
    'sandboxes 3 ready 5 leased, 4 parents 2 forking, leases 5 hit 2 cold 3 forked',
  )
  const claims = {
    ...pool,
    source: 'provider-pool',
    leases: { hit: 0, cold: 0, claim: 7, fork: 0 },
    providerPool: { target: 128, ready: 96, countedMsAgo: 10 },
  } as const
  assert.is(describePool(claims).join(', '), 'sandboxes 3 ready 5 leased, provider pool 96/128, leases 7 claimed')
  const uncounted = { ...claims, providerPool: { target: 128, ready: undefined, countedMsAgo: undefined } }
  assert.match(describePool(uncounted).join(', '), 'provider pool –/128')
})

test('a pool that cannot have its source says why, in the line and at the end', () => {
  const refused = { ...pool, sourceError: { tag: 'no-forks', message: 'the account has no forks' } }
  assert.match(describePool(refused).join(', '), 'source create: the account has no forks')
  assert.is(
    renderPool(refused),
    `sandboxes: 8 made, created anew, 0 creates failed, 0 will not die
not from where they were asked for: the account has no forks`,
  )
})

test('without a terminal there is a line every five seconds, and one for the end', async () => {
  const clock = new VirtualClock()
  const stream = new PassThrough({ encoding: 'utf8' })
  let finished = 1
  const progress = showProgress(() => at(finished), { clock, stream, interactive: false })
  await clock.advance(4_999)
  assert.is(stream.read(), null)
  await clock.advance(1)
  assert.match(String(stream.read()), /^1\/20 runs, 0\.2\/s/)
  await clock.advance(5_000)
  finished = 20
  progress.stop()
  const rest = String(stream.read()).trimEnd().split('\n')
  assert.equal(
    rest.map(line => line.slice(0, 5)),
    ['1/20 ', '20/20'],
  )
  await clock.advance(60_000)
  assert.is(stream.read(), null, 'nothing is written once it is stopped')
})

test('the first signal aborts, the second ends at once, and none is heard any more after disarming', () => {
  const source = new EventEmitter()
  const heard: string[] = []
  const interrupt = armInterrupt({ onFirst: () => heard.push('first'), onSecond: () => heard.push('second') }, source)
  assert.is(interrupt.signal.aborted, false)
  source.emit('SIGINT')
  assert.is(interrupt.signal.aborted, true)
  source.emit('SIGTERM')
  source.emit('SIGINT')
  assert.equal(heard, ['first', 'second'])
  interrupt.disarm()
  assert.is(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM'), 0)
})

test.run()
