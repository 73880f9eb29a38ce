import * as assert from 'uvu/assert'
import type { JobShape } from '../../src/simulation/job.ts'
import { COLD } from '../../src/tune/evaluate.ts'
import { renderVerification } from '../../src/tune/verify/render.ts'
import { type Verified, verify } from '../../src/tune/verify/verify.ts'
import { suite } from '../support/suite.ts'

const test = suite('tune: against the emulator')

/** A machine that is busy with other things takes its time; the benchmark says how near it comes when it is not. */
const NEAR = 0.25
/** What the machine takes counts so many times: at 10, a busy one made half a second of its own into a third of what is idle. */
const SPEED = 3
const DEADLINE = { deadlineMs: 120_000 }

const JOB: JobShape = {
  rollouts: 8,
  group: 4,
  steps: 2,
  maxConcurrent: 8,
  arrivals: { type: 'batch' },
  durations: { type: 'lognormal', p50Ms: 12_000, p95Ms: 18_000 },
  gapMs: 20_000,
}

function isNear({ candidate, stepMs, idleSeconds }: Verified): void {
  for (const [what, { predicted, measured, ratio }] of [
    ['step', stepMs],
    ['idle', idleSeconds],
  ] as const)
    assert.ok(Math.abs(ratio - 1) < NEAR, `${candidate.strategy}, ${what}: ${measured} against ${predicted}`)
}

test(
  'the engine’s own pool fares as was simulated, with a shelf and without',
  async () => {
    const shelf = { ...COLD, strategy: 'prewarm', size: 8, leadMs: 15_000 } as const
    const begun: string[] = []
    const found = await verify(JOB, [COLD, shelf], {
      speed: SPEED,
      seed: 1,
      steps: 2,
      onPlan: ({ strategy }) => void begun.push(strategy),
    })
    assert.equal(begun, ['cold', 'prewarm'])
    for (const plan of found.plans) isNear(plan)
    const [cold, held] = found.plans
    assert.equal([cold?.hitRate.measured, held?.hitRate.measured], [0, 0.5])
    assert.ok((held?.idleSeconds.measured ?? 0) > 2 * (cold?.idleSeconds.measured ?? 0))
    assert.match(renderVerification(found), /Against the emulator at speed 3, 2 steps/)
  },
  DEADLINE,
)

test(
  'so it does where groups come over time',
  async () => {
    const job: JobShape = {
      ...JOB,
      rollouts: 24,
      maxConcurrent: 24,
      steps: 1,
      arrivals: { type: 'staggered', overMs: 30_000 },
    }
    const { plans } = await verify(job, [{ ...COLD, strategy: 'prewarm', size: 4 }], {
      speed: SPEED,
      seed: 1,
      steps: 1,
    })
    plans.forEach(isNear)
    assert.ok((plans[0]?.hitRate.measured ?? 0) >= 0.7, String(plans[0]?.hitRate.measured))
  },
  DEADLINE,
)

test(
  'it ends in order when it is told to, with its reason',
  async () => {
    const stop = new AbortController()
    const running = verify(JOB, [COLD], {
      speed: 1,
      seed: 1,
      steps: 2,
      signal: stop.signal,
      onPlan: () => setImmediate(() => stop.abort(new Error('enough'))),
    })
    try {
      await running
      assert.unreachable()
    } catch (error) {
      assert.ok(stop.signal.aborted, String(error))
    }
  },
  DEADLINE,
)

test.run()
