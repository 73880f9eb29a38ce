import fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { PoolOptions } from '../../src/job/options.ts'
import { drawDurations } from '../../src/simulation/draws.ts'
import type { JobShape, PoolPlan } from '../../src/simulation/job.ts'
import { PUBLISHED_MODEL } from '../../src/simulation/latency-model.ts'
import { toFigures } from '../../src/simulation/outcome.ts'
import { simulate } from '../../src/simulation/simulate.ts'
import { poissonBelow } from '../../src/tune/analytic.ts'
import { suite } from '../support/suite.ts'

const test = suite('simulation')

const JOB: JobShape = {
  rollouts: 32,
  group: 4,
  steps: 3,
  maxConcurrent: 32,
  arrivals: { type: 'batch' },
  durations: { type: 'lognormal', p50Ms: 20_000, p95Ms: 40_000 },
  gapMs: 60_000,
}
const COLD: PoolPlan = { pool: { strategy: 'cold', size: 0 } }
const held = (size: number, leadMs?: number, source?: PoolOptions['source']): PoolPlan => ({
  pool: { strategy: 'prewarm', size, ...(source === undefined ? {} : { source }) },
  ...(leadMs === undefined ? {} : { leadMs }),
})
const run = (job: JobShape, plan: PoolPlan, seed = 1) => simulate(job, plan, PUBLISHED_MODEL, seed)
const figures = (job: JobShape, plan: PoolPlan, seed = 1) => toFigures(run(job, plan, seed))

test('the same seed gives the same outcome, another one another', () => {
  assert.equal(run(JOB, held(16, 5_000)), run(JOB, held(16, 5_000)))
  assert.not.equal(run(JOB, COLD), run(JOB, COLD, 2))
})

test('every plan is measured on the same rollouts: the time that sandboxes are used is theirs and nothing else', () => {
  const drawn = [0, 1, 2].flatMap(step => drawDurations(JOB, 1, step)).reduce((sum, ms) => sum + ms, 0) / 1_000
  for (const plan of [COLD, held(8, 5_000), held(32, 60_000), held(8, 5_000, { type: 'fork', parents: 2 })]) {
    const { seconds } = run(JOB, plan)
    assert.ok(Math.abs(seconds.used - drawn) < 1e-6 * drawn, `${seconds.used} against ${drawn}`)
  }
})

test('what is idle is what is ready, kept, unclaimed or in the making', () => {
  for (const plan of [
    COLD,
    held(16, 20_000),
    { pool: { ...COLD.pool, source: { type: 'provider-pool', size: 8 } } } as const,
  ]) {
    const { seconds } = run(JOB, plan)
    const { idle, ready, parents, unclaimed, making } = seconds
    assert.ok(Math.abs(idle - ready - parents - unclaimed - making) < 1e-6 * idle)
    assert.ok(Math.min(ready, parents, unclaimed, making) >= 0)
  }
})

test('a cold batch waits as long as the model says that so many at once take', () => {
  const { waitMs, hitRate } = figures({ ...JOB, rollouts: 128, maxConcurrent: 128 }, COLD)
  // Create 1.32 s, calls 0.14 s, boot 3.16 s.
  assert.ok(Math.abs(waitMs.p50 / 4_620 - 1) < 0.05, String(waitMs.p50))
  assert.is(hitRate, 0)
})

test('a pool that is told of the next step in time has all of it ready; one that is told when it begins has none', () => {
  const inTime = figures(JOB, held(32, 6_000))
  assert.is(inTime.hitRate, 1)
  assert.is(inTime.waitMs.max, 0)
  const late = figures(JOB, held(32))
  assert.is(late.hitRate, 0)
  assert.ok(Math.abs(late.stepMs - figures(JOB, COLD).stepMs) < 100)
})

test('a shelf of half the batch serves half of it, and nothing stays ready after the last step', () => {
  const outcome = run(JOB, held(16, 6_000))
  assert.is(toFigures(outcome).hitRate, 0.5)
  assert.is(outcome.created, JOB.rollouts * JOB.steps)
})

test('a longer lead costs its own length for each sandbox of the shelf', () => {
  const short = figures(JOB, held(32, 10_000))
  const long = figures(JOB, held(32, 40_000))
  // Two gaps in three steps.
  const expected = (32 * 30 * 2) / 3
  assert.ok(Math.abs((long.idleSeconds - short.idleSeconds) / expected - 1) < 0.02)
})

test('no more rollouts run at once than may, but for the rest of one group', () => {
  const { peak } = run({ ...JOB, rollouts: 64, maxConcurrent: 10 }, COLD)
  assert.ok(peak <= 10 + JOB.group - 1 + JOB.group, String(peak))
})

test('from the second step on a provider’s pool of the batch answers every request with a claim', () => {
  const plan = { pool: { strategy: 'cold', size: 0, source: { type: 'provider-pool', size: 32 } } } as const
  const found = figures(JOB, plan)
  assert.is(found.claimRate, 1)
  assert.ok(found.waitMs.p50 < figures(JOB, COLD).waitMs.p50)
})

test('forks of kept parents serve a wide batch sooner than creates do', () => {
  const wide = { ...JOB, rollouts: 256, maxConcurrent: 256 }
  const forked = figures(wide, { pool: { ...COLD.pool, source: { type: 'fork', parents: 4 } } })
  assert.ok(forked.waitMs.p95 < 0.65 * figures(wide, COLD).waitMs.p95)
})

test('where arrivals are steady and single, hits are those of a base stock', () => {
  const job: JobShape = {
    ...JOB,
    group: 1,
    rollouts: 3_000,
    steps: 2,
    maxConcurrent: 10_000,
    arrivals: { type: 'steady', perSecond: 1 },
  }
  // A create alone: 1.2 s, calls 0.14 s, boot 0.9 s; a few at once take a little longer.
  for (const size of [1, 2, 4]) {
    const { hitRate } = figures(job, held(size))
    assert.ok(Math.abs(hitRate - poissonBelow(size, 2.27)) < 0.03, `${size}: ${hitRate}`)
  }
})

test('creates that fail are tried again, and a step ends all the same', () => {
  const failing = { ...PUBLISHED_MODEL, failures: [[1, 0.2]] as const }
  const outcome = simulate(JOB, COLD, failing, 1)
  assert.ok(outcome.createFailures > 0)
  assert.is(outcome.steps.length, JOB.steps)
  for (const { waitsMs, refused } of outcome.steps) assert.is(waitsMs.length + refused, JOB.rollouts)
})

test('whatever the job and the plan, every rollout gets its answer and every sandbox goes', () => {
  const arrivals = fc.constantFrom<JobShape['arrivals']>(
    { type: 'batch' },
    { type: 'staggered', overMs: 30_000 },
    { type: 'steady', perSecond: 0.7 },
  )
  const source = fc.constantFrom<NonNullable<PoolOptions['source']>>(
    { type: 'create' },
    { type: 'fork', parents: 2 },
    { type: 'provider-pool', size: 4 },
    { type: 'auto' },
  )
  fc.assert(
    fc.property(
      arrivals,
      source,
      fc.constantFrom<number | 'auto'>(0, 3, 12, 'auto'),
      fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined }),
      fc.integer({ min: 1, max: 20 }),
      (arrivals, source, size, leadMs, maxConcurrent) => {
        const job = { ...JOB, rollouts: 12, arrivals, maxConcurrent, steps: 2 }
        const pool = { strategy: size === 0 ? 'cold' : 'prewarm', size, source } as const
        const outcome = run(job, { pool, ...(leadMs === undefined ? {} : { leadMs }) })
        assert.equal(
          outcome.steps.map(({ waitsMs, refused }) => waitsMs.length + refused),
          [12, 12],
        )
        assert.ok(outcome.created >= 24)
      },
    ),
    { numRuns: 60 },
  )
})

test('ten thousand sandboxes take a few seconds', () => {
  const startedAt = performance.now()
  const { created } = run({ ...JOB, rollouts: 10_000, maxConcurrent: 10_000, steps: 1 }, held(10_000))
  assert.is(created, 10_000)
  assert.ok(performance.now() - startedAt < 15_000)
})

test.run()
