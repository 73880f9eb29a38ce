import * as assert from 'uvu/assert'
import type { TuneArguments } from '../../src/cli/commands/tune.ts'
import { toLiveWidths } from '../../src/cli/tune-live.ts'
import { toTuneRequest } from '../../src/cli/tune-request.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli tune request')

const defaults: TuneArguments = {
  rollouts: 16,
  group: 4,
  steps: 2,
  duration: { type: 'lognormal', p50Ms: 50_000, p95Ms: 90_000 },
  arrivals: { type: 'batch' },
  receipt: [],
  strategies: ['cold'],
  repetitions: 1,
  seed: 1,
}

const nothing = () => Promise.reject(new Error('nothing is to be measured'))

test('what is not said is the published job, all of a step at once, for a hit rate of 0.99', async () => {
  const { job, objective, price, model } = await toTuneRequest(defaults, nothing)
  assert.equal([job.gapMs, job.maxConcurrent, job.arrivals], [94_000, 16, { type: 'batch' }])
  assert.equal(objective, { type: 'hit-rate', atLeast: 0.99 })
  assert.equal(price, { perSandboxSecond: 0, perCreate: 0 })
  assert.is(model.source, 'the published figures')
})

test('staggered starts take as long as a middling rollout, unless it is said how long; steady ones leave no gap', async () => {
  const jobOf = async (more: Partial<TuneArguments>) => (await toTuneRequest({ ...defaults, ...more }, nothing)).job
  assert.equal((await jobOf({ arrivals: { type: 'staggered', overMs: undefined } })).arrivals, {
    type: 'staggered',
    overMs: 50_000,
  })
  const measured = { type: 'measured', ms: [9_000, 1_000, 2_000] } as const
  const { arrivals } = await jobOf({ arrivals: { type: 'staggered', overMs: undefined }, duration: measured })
  assert.equal(arrivals, { type: 'staggered', overMs: 2_000 })
  assert.is((await jobOf({ arrivals: { type: 'steady', perSecond: 1 } })).gapMs, 0)
})

test('a live run is what the model is fitted to, and nothing else is then asked', async () => {
  const rows = [8, 16].map(n => ({ n, mode: 'cold', ok: n, failed: 0, readyP50S: 20, readyP95S: 21 }))
  const { model } = await toTuneRequest({ ...defaults, live: true }, async () => rows)
  assert.is(model.source, 'a model fitted to a ladder measured just now')
})

test('its widths go up to all that the job has in flight', () => {
  assert.equal(toLiveWidths(128), [8, 32, 128])
  assert.equal(toLiveWidths(16), [4, 8, 16])
  assert.equal(toLiveWidths(1), [1])
})

for (const [more, tag, says] of [
  [{ rollouts: 15 }, 'groups-not-whole', /--rollouts 15 .*--group 4.* Use --rollouts 16/],
  [{ targetHitRate: 0.9, knee: true }, 'conflicting-options', /--target-hit-rate and --knee/],
  [{ maxStep: 1, budget: 1, price: 1 }, 'conflicting-options', /--max-step and --budget/],
  [{ budget: 3 }, 'missing-option', /--price is missing: a budget is spent on sandboxes/],
  [{ arrivals: { type: 'steady', perSecond: 1 }, gap: 9 }, 'conflicting-options', /--gap and --arrivals steady/],
  [{ speed: 4 }, 'missing-option', /--verify is missing: --speed is of the emulator/],
  [{ verifySteps: 4 }, 'missing-option', /--verify is missing: --verify-steps is/],
  [{ emulator: true }, 'missing-option', /--live is missing: --emulator/],
  [{ runtime: 'local' }, 'missing-option', /--live is missing: --runtime/],
  [{ live: true, receipt: ['some.csv'] }, 'conflicting-options', /--live and --receipt/],
  [{ receipt: ['nowhere.csv'] }, 'receipt-unreadable', /nowhere\.csv.*no such file/],
] as const)
  test(`refused, by the option and what to do: ${JSON.stringify(more)}`, async () => {
    await assertRejects(toTuneRequest({ ...defaults, ...more }, nothing), tag, says)
  })

test.run()
