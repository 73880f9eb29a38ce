import * as assert from 'uvu/assert'
import { type JobShape, PUBLISHED_JOB, PUBLISHED_MODEL } from '../../src/simulation/index.ts'
import {
  drawTuneCurve,
  neighboursOf,
  type Objective,
  renderTune,
  STRATEGIES,
  type Strategy,
  toAdvice,
  toPoolArgument,
  tune,
} from '../../src/tune/index.ts'
import { suite } from '../support/suite.ts'

const test = suite('tune')

const published: JobShape = { ...PUBLISHED_JOB, steps: 2 }
const long: JobShape = {
  ...published,
  durations: { type: 'lognormal', p50Ms: 600_000, p95Ms: 1_000_000 },
  arrivals: { type: 'staggered', overMs: 600_000 },
}

const find = (job: JobShape, objective: Objective, strategies: readonly Strategy[] = ['cold', 'prewarm']) =>
  tune({
    job,
    objective,
    strategies,
    model: PUBLISHED_MODEL,
    price: { perSandboxSecond: 0.00005, perCreate: 0 },
    seed: 1,
    repetitions: 1,
  })
const readily = { type: 'hit-rate', atLeast: 0.99 } as const
const ready = find(published, readily, STRATEGIES)

test('for the published job the pool is the batch, filled a few seconds before each step', () => {
  const result = ready
  const { candidate, hitRate, savedMs } = result.chosen
  assert.ok(result.isMet)
  assert.equal([candidate.strategy, candidate.size], ['prewarm', 128])
  assert.ok((candidate.leadMs ?? 0) >= 5_000 && (candidate.leadMs ?? 0) <= 12_000, `${candidate.leadMs} ms`)
  assert.is(hitRate.mean, 1)
  // Cold, 128 at once take 4.6 s by these figures.
  assert.ok(savedMs.mean > 4_000 && savedMs.mean < 5_500, JSON.stringify(savedMs))
  const { why, use } = toAdvice(result)
  assert.match(why, /All 128 rollouts ask at once/)
  assert.match(why, /128 ready ones serve 128 of 128/)
  assert.match(use, `troupe train --runtime daytona --pool 128 --pool-lead ${(candidate.leadMs ?? 0) / 1_000}`)
})

test('where rollouts are long and starts staggered, two groups are enough, and it says why', () => {
  const { chosen, isMet, analytic, ...rest } = find(long, readily)
  assert.ok(isMet)
  assert.ok(chosen.candidate.size <= 16, `${chosen.candidate.size}`)
  assert.ok(chosen.peak > 64, 'though many run at once')
  assert.ok(analytic.type === 'base-stock' && analytic.load < 1)
  const { why } = toAdvice({ chosen, isMet, analytic, ...rest })
  assert.match(why, /in that time only 0\.\d\d more rollouts ask/)
})

test('steady arrivals need what theory says that they need', () => {
  const job: JobShape = {
    ...published,
    group: 1,
    rollouts: 600,
    maxConcurrent: 600,
    arrivals: { type: 'steady', perSecond: 1 },
  }
  const { analytic, chosen } = find(job, { type: 'hit-rate', atLeast: 0.95 })
  assert.ok(analytic.type === 'base-stock')
  const theory = analytic.sizeFor(0.95)
  assert.ok(Math.abs(chosen.candidate.size - theory) <= 2, `${chosen.candidate.size} against ${theory}`)
})

test('a limit on a step’s latency or cost is kept, or it is said that it cannot be', () => {
  const { cold } = ready
  const quick = find(published, { type: 'step-latency', atMostMs: cold.stepMs.mean - 3_000 })
  assert.ok(quick.isMet && quick.chosen.stepMs.mean <= cold.stepMs.mean - 3_000)
  assert.ok(quick.chosen.candidate.size < 128, 'no more than that takes')
  const thrifty = find(published, { type: 'budget', perStep: cold.cost * 1.002 })
  assert.ok(thrifty.isMet && thrifty.chosen.cost <= cold.cost * 1.002)
  const impossible = find(published, { type: 'step-latency', atMostMs: 1_000 })
  assert.not(impossible.isMet)
  assert.match(toAdvice(impossible).what, /^No plan that was looked at keeps to a step of 1\.00 s/)
})

test('the same request gives the same result, the same text and the same picture', () => {
  const [one, other] = [find(published, { type: 'knee' }), find(published, { type: 'knee' })]
  assert.is(JSON.stringify(one), JSON.stringify(other))
  assert.is(renderTune(one), renderTune(other))
  const svg = drawTuneCurve(one)
  assert.is(svg, drawTuneCurve(other))
  assert.match(svg, /^<svg role="img"/)
  assert.match(svg, `<title>Step latency against idle sandboxes: ${toPoolArgument(one.chosen.candidate)}`)
  assert.ok(one.front.includes(one.chosen) || one.evaluated.includes(one.chosen))
})

test('a longer create makes the chosen plan no worse than its margin, and all of what was thought is varied', () => {
  const { sensitivity } = ready
  assert.equal(
    sensitivity.map(({ what }) => what),
    ['rollouts −25 %', 'rollouts +25 %', 'creates −25 %', 'creates +25 %', 'gaps −50 %', 'gaps +50 %'],
  )
  for (const { what, evaluated } of sensitivity) assert.ok(evaluated.hitRate.mean >= 0.98, what)
})

test('two others are named to be tried beside it', () => {
  const result = ready
  const names = neighboursOf(result).map(toPoolArgument)
  assert.is(names.length, 2)
  assert.not(names.includes(toPoolArgument(result.chosen.candidate)))
})

test('with nothing to choose from it says so', () => {
  assert.throws(() => find(published, readily, []), /name at least one strategy/)
})

test.run()
