import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { armInterrupt } from '../../src/cli/interrupt.ts'
import { describeProgress, showProgress } from '../../src/cli/progress.ts'
import type { JobSnapshot } from '../../src/job/snapshot.ts'
import { makeSnapshot } from '../report/scene.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('cli progress')

const pool: NonNullable<JobSnapshot['pool']> = {
  strategy: 'prewarm',
  target: 8,
  creating: 0,
  ready: 3,
  leased: 5,
  deleting: 0,
  quarantined: 0,
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
    '2.5/s, eta 6.00 s, reward 0.75, 1 failed, 5 in flight, sandboxes 3 ready 5 leased',
  )
  const stopped = { ...pool, breaker: { tag: 'pool-stopped', message: 'creates keep failing' } }
  assert.is(
    describeProgress(makeSnapshot([], 0, { plannedRuns: 20, pool: stopped }), 0),
    '0.0/s, eta –, reward –, 0 failed, 0 in flight, sandboxes 3 ready 5 leased, pool stopped: creates keep failing',
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
