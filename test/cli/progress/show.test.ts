import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { watchJob } from '../../../src/cli/progress/job-view.ts'
import { showProgress } from '../../../src/cli/progress/show.ts'
import { toLine } from '../../../src/cli/progress/view.ts'
import { publish } from '../../../src/telemetry/channels.ts'
import { jobId, makeRun, makeSnapshot } from '../../report/scene.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { poolOf } from '../../telemetry/metrics/scene.ts'

const test = suite('progress of a job')

const lost = { tag: 'model-lost', message: 'the model is gone' }

/** A job of 20 runs: what `end` is told of has ended. */
function makeJob() {
  const runs: ReturnType<typeof makeRun>[] = []
  const job = {
    jobId,
    snapshot: () => ({
      ...makeSnapshot(runs, 0),
      plannedRuns: 20,
      inFlight: 5,
      pool: poolOf({ ready: 3, leased: 5, leases: { hit: 5, cold: 0, claim: 0, fork: 0 } }),
    }),
  }
  const end = (differing = {}, heard = true) => {
    const run = makeRun(runs.length, 1, differing)
    runs.push(run)
    if (heard) publish('run', run)
  }
  return { job, end }
}

test('a line tells rate, time left, pass rate, failures by kind, and the pool', async () => {
  const clock = new VirtualClock()
  const { job, end } = makeJob()
  const watch = watchJob(job, clock)
  assert.is(
    toLine(watch.view()),
    '0/20 runs, 0.0/s, 5 in flight, pool 3/8 ready 5 leased, leases 5 hit',
    'at the beginning nobody knows how long it takes',
  )
  for (let run = 0; run < 3; run += 1) end({ reward: 1 })
  end({ reward: 0 })
  end({ reward: null, outcome: 'infrastructure-error', error: lost })
  await clock.advance(2_000)
  assert.is(
    toLine(watch.view()),
    '5/20 runs, 2.5/s, 6 s left, 75.0 % passed, 1 failed: 1 model-lost, 5 in flight, pool 3/8 ready 5 leased, leases 5 hit',
  )
  end({ reward: 0.5 })
  assert.match(toLine(watch.view()), '60.0 % passed, reward 0.70, 1 failed')
  watch.stop()
  publish('run', makeRun(0, 0))
  await clock.advance(1)
  assert.match(toLine(watch.view()), '6/20 runs', 'after it was stopped nothing is heard')
})

test('what an earlier process finished is done, and does not make the rest look quick', async () => {
  const clock = new VirtualClock()
  const { job, end } = makeJob()
  for (let run = 0; run < 10; run += 1) end({ reward: 1 }, false)
  const watch = watchJob(job, clock)
  await clock.advance(10_000)
  assert.match(toLine(watch.view()), /^10\/20 runs, 0\.0\/s, 100\.0 % passed/)
  end({ reward: 1 })
  assert.match(toLine(watch.view()), /^11\/20 runs, 0\.1\/s, 90 s left/)
  watch.stop()
})

test('without a terminal there is a line every five seconds, and one for the end', async () => {
  const clock = new VirtualClock()
  const stderr = new PassThrough({ encoding: 'utf8' })
  const { job, end } = makeJob()
  const watch = watchJob(job, clock)
  const console = { stderr, interactive: false, columns: () => 80, keepBelow() {} }
  const shown = showProgress(watch.view, { clock, console })
  end()
  await clock.advance(4_999)
  assert.is(stderr.read(), null)
  await clock.advance(1)
  assert.match(String(stderr.read()), /^1\/20 runs, 0\.2\/s/)
  await clock.advance(5_000)
  end()
  shown.stop()
  const rest = String(stderr.read()).trimEnd().split('\n')
  assert.equal(
    rest.map(line => line.slice(0, 5)),
    ['1/20 ', '2/20 '],
  )
  await clock.advance(60_000)
  assert.is(stderr.read(), null, 'nothing is written once it is stopped')
  watch.stop()
})

test.run()
