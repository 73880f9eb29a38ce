import * as assert from 'uvu/assert'
import type { PoolMeasurement } from '../../src/warmpool/columns.ts'
import { runWarmpool, type WarmpoolPlan } from '../../src/warmpool/warmpool.ts'
import { suite } from '../support/suite.ts'
import { makeScene } from './fake-client.ts'

const test = suite('warmpool')

const PLAN: WarmpoolPlan = { width: 4, size: 4, source: 'prewarm', batches: 3, repetitions: 2 }
const ROUND = [
  ...['prewarm prepare 4', 'prewarm measure'],
  ...['prewarm prepare 8', 'prewarm measure on', 'prewarm prepare 12'],
  ...['prewarm measure on', 'prewarm measure on', 'prewarm measure'],
]
const ignore = () => {}

test('cold and warm take turns, and all but the last batch follow without waiting', async () => {
  const { ports, asked } = makeScene()
  const { problems } = await runWarmpool(PLAN, ports, ignore)
  const cold = ['cold prepare 4', 'cold measure']
  assert.equal(asked, [
    ...['cold warm-up', 'prewarm warm-up'],
    ...[...cold, ...ROUND, ...cold, ...ROUND],
    ...['cold end', 'prewarm end'],
  ])
  assert.equal(problems, [])
})

test('a row a level tells what was found ready, how long a fill from empty took, and the refill', async () => {
  const { levels } = await runWarmpool(PLAN, makeScene().ports, ignore)
  const first = levels.slice(0, 6).map(({ phase, batch, hit_rate, held_ready, ready_p50_s, fill_s, refill_s }) => ({
    ...{ phase, batch, hit_rate, held_ready, ready_p50_s, fill_s, refill_s },
  }))
  const none = { batch: undefined, fill_s: undefined, refill_s: undefined }
  const cold = { ready_p50_s: 1, hit_rate: 0, held_ready: undefined }
  const hit = { ready_p50_s: 0.01, hit_rate: 1, held_ready: 4 }
  assert.equal(roundOff(first), [
    { phase: 'cold', ...none, ...cold },
    { phase: 'warm', ...none, ...hit, fill_s: 0.4 },
    { phase: 'drain', ...none, ...hit, refill_s: 0.2 },
    { phase: 'batch', ...none, ...hit, batch: 1 },
    { phase: 'batch', ...none, batch: 2, ready_p50_s: 0.01, hit_rate: 0.5, held_ready: 2 },
    { phase: 'batch', ...none, batch: 3, ready_p50_s: 1, hit_rate: 0.25, held_ready: 1 },
  ])
  assert.is(levels.length, 12)
})

/** The histogram keeps three digits. */
const roundOff = <Row extends { readonly ready_p50_s: number | undefined }>(rows: readonly Row[]) =>
  rows.map(row => ({ ...row, ready_p50_s: Number(row.ready_p50_s?.toFixed(2)) }))

test('a pool larger than the width is told of enough to be filled', async () => {
  const { ports, asked } = makeScene()
  await runWarmpool({ ...PLAN, size: 6, batches: 1, repetitions: 1 }, ports, ignore)
  assert.equal(
    asked.filter(what => what.startsWith('prewarm prepare')),
    ['prewarm prepare 6', 'prewarm prepare 10', 'prewarm prepare 6'],
  )
})

test('the time line is that of the first repetition, one stretch behind the other', async () => {
  const { moments } = await runWarmpool(PLAN, makeScene().ports, ignore)
  assert.equal(
    [...new Set(moments.map(({ during }) => during))],
    ['fill', 'one batch', 'fill again', 'drain', 'refill', 'batch 1', 'batch 2', 'batch 3'],
  )
  const times = moments.map(({ at_s = 0 }) => at_s)
  assert.equal(
    times,
    times.toSorted((one, other) => one - other),
  )
  assert.is(times.length, 16)
})

test('an interrupt keeps the levels that are done and ends both clients', async () => {
  const scene = makeScene((what, { interrupt }) => {
    if (what === 'prewarm prepare 8') {
      interrupt.abort(new Error('interrupted'))
      return new Promise(() => {})
    }
    return undefined
  })
  const { levels, problems } = await runWarmpool(PLAN, scene.ports, ignore)
  assert.equal(
    levels.map(({ phase }) => phase),
    ['cold', 'warm'],
  )
  assert.equal(scene.asked.slice(-3), ['prewarm prepare 8', 'cold end', 'prewarm end'])
  assert.equal(problems, [], 'whoever interrupted knows why')
})

test('what fails is named, and the rest goes on', async () => {
  const scene = makeScene(what => {
    if (what === 'prewarm prepare 4') throw new Error('no room')
  })
  const { levels, problems } = await runWarmpool(PLAN, scene.ports, ignore)
  assert.equal(
    levels.map(({ phase }) => phase),
    ['cold', 'cold'],
  )
  assert.equal(problems, ['prewarm, repetition 1: no room', 'prewarm, repetition 2: no room'])
})

test('what cannot be opened is left out, and ended all the same', async () => {
  const scene = makeScene(what => {
    if (what === 'prewarm warm-up') throw new Error('no key')
  })
  const { levels, problems } = await runWarmpool(PLAN, scene.ports, ignore)
  assert.is(levels.length, 2)
  assert.equal(problems, ['prewarm: no key'])
  assert.equal(scene.asked.slice(-2), ['cold end', 'prewarm end'])
})

test('whoever keeps it is told of everything so far after each level', async () => {
  const told: number[] = []
  const keep = ({ levels }: PoolMeasurement) => void told.push(levels.length)
  await runWarmpool({ ...PLAN, repetitions: 1 }, makeScene().ports, keep)
  assert.equal(told, [1, 2, 3, 4, 5, 6])
})

test.run()
