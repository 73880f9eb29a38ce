import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import type { SandboxOrigin } from '../../src/runtimes/runtime.ts'
import { fitLatencyModel } from '../../src/simulation/fit.ts'
import { type LadderRow, PUBLISHED_LADDER } from '../../src/simulation/ladder-row.ts'
import { type LatencyModel, PUBLISHED_MODEL } from '../../src/simulation/latency-model.ts'
import { mean } from '../../src/simulation/quantile.ts'
import { replayLevel } from '../../src/simulation/replay.ts'
import { suite } from '../support/suite.ts'

const test = suite('simulation: fitting')

/** Means over seeds that the fit did not use. */
function measure(model: LatencyModel, origin: SandboxOrigin, width: number) {
  const runs = Array.from({ length: 8 }, (_, run) => replayLevel(model, origin, width, 100 + run))
  return { p50Ms: mean(runs.map(({ p50Ms }) => p50Ms)), p95Ms: mean(runs.map(({ p95Ms }) => p95Ms)) }
}
const published = fitLatencyModel(PUBLISHED_LADDER, 'published')

const isNear = (found: number, wanted: number, share: number, what: string) =>
  assert.ok(Math.abs(found / wanted - 1) < share, `${what}: ${found} against ${wanted}`)

test('fitted to the published ladder, the simulated one has the published medians', () => {
  for (const [width, ms] of [
    [8, 2_800],
    [32, 3_270],
    [128, 5_090],
    [256, 9_900],
  ] as const)
    isNear(measure(published, 'cold', width).p50Ms, ms, 0.03, `cold at ${width}`)
})

test('and the published claims and forks, of which it was told nothing', () => {
  isNear(measure(published, 'claim', 128).p50Ms, 4_400, 0.1, 'claims at 128')
  isNear(measure(published, 'claim', 256).p50Ms, 7_300, 0.1, 'claims at 256')
  isNear(measure(published, 'fork', 1).p50Ms, 1_780, 0.15, 'one fork')
})

const level = (mode: string, n: number, readyP50S: number, readyP95S = readyP50S * 1.1): LadderRow => ({
  mode,
  n,
  ok: n,
  failed: 0,
  readyP50S,
  readyP95S,
})

test('each path is fitted to its own levels', () => {
  const model = fitLatencyModel([level('cold', 16, 6), level('provider-pool', 16, 3), level('fork', 16, 4)], 'a')
  isNear(measure(model, 'cold', 16).p50Ms, 6_000, 0.05, 'cold')
  isNear(measure(model, 'claim', 16).p50Ms, 3_000, 0.05, 'claims')
  isNear(measure(model, 'fork', 16).p50Ms, 4_000, 0.08, 'forks')
})

test('a wider spread than the parts have is one of whole sandboxes', () => {
  const model = fitLatencyModel([level('cold', 128, 5, 8)], 'a')
  const { p50Ms, p95Ms } = measure(model, 'cold', 128)
  isNear(p50Ms, 5_000, 0.05, 'median')
  isNear(p95Ms, 8_000, 0.12, '95th percentile')
})

test('shares of failures are the measured ones, and the known ones beyond', () => {
  const model = fitLatencyModel([level('cold', 8, 3), { ...level('cold', 64, 4), ok: 48, failed: 16 }], 'a')
  assert.equal(model.failures, [[8, 0], [64, 0.25], ...PUBLISHED_MODEL.failures])
})

test('a ladder that tells of no path is refused', () => {
  assert.throws(
    () => fitLatencyModel([level('prewarm', 8, 0.01)], 'a'),
    (error: unknown) =>
      error instanceof TroupeError && error.tag === 'ladder-foreign' && /are prewarm/.test(error.message),
  )
})

test.run()
