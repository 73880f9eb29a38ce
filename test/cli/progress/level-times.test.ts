import * as assert from 'uvu/assert'
import { makeCounter } from '../../../src/cli/progress/counter.ts'
import { type LevelPlan, makeLevelTimes } from '../../../src/cli/progress/level-times.ts'
import { toLine } from '../../../src/cli/progress/view.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const test = suite('time left of a ladder')

function makeScene(plan: LevelPlan) {
  const clock = new VirtualClock()
  const times = makeLevelTimes(plan, clock)
  return {
    clock,
    leftSeconds: () => {
      const left = times.leftMs()
      return left === null ? null : Math.round(left) / 1_000
    },
    leftMs: times.leftMs,
    async level(strategy: string, width: number, seconds: number) {
      await clock.advance(seconds * 1_000)
      times.done({ strategy, width })
    },
  }
}

test('two widths tell how the time grows, one does not', async () => {
  const ladder = makeScene({ widths: [8, 32, 128], strategies: ['cold'], repetitions: 1 })
  assert.is(ladder.leftSeconds(), null)
  await ladder.level('cold', 8, 2)
  assert.is(ladder.leftSeconds(), null)
  // Four times as wide and twice as long: so again.
  await ladder.level('cold', 32, 4)
  assert.is(ladder.leftSeconds(), 8)
  await ladder.level('cold', 128, 9)
  assert.is(ladder.leftSeconds(), null)
})

test('a time that shrinks, or grows more than the width does, is not carried on', async () => {
  const plan = { widths: [8, 16, 32], strategies: ['cold'], repetitions: 1 }
  const shrinking = makeScene(plan)
  await shrinking.level('cold', 8, 5)
  await shrinking.level('cold', 16, 3)
  assert.is(shrinking.leftSeconds(), 3)
  const exploding = makeScene(plan)
  await exploding.level('cold', 8, 1)
  await exploding.level('cold', 16, 30)
  assert.is(exploding.leftSeconds(), 60)
})

test('each strategy is told by its own levels, and by none before it has them', async () => {
  const ladder = makeScene({ widths: [1, 10, 100], strategies: ['cold', 'fork'], repetitions: 2 })
  for (const width of [1, 10]) {
    await ladder.level('cold', width, 4 * width)
    assert.is(ladder.leftSeconds(), null)
    await ladder.level('fork', width, 1)
    if (width > 1) break
    await ladder.level('cold', width, 2 * width)
    await ladder.level('fork', width, 1)
  }
  // Of cold 3 s and 40 s, in proportion at most; of fork 1 s at any width.
  assert.is(ladder.leftSeconds(), 40 + 1 + 2 * (400 + 1))
})

test('time passes in the level under way, and stands still when that is late', async () => {
  const ladder = makeScene({ widths: [1], strategies: ['cold'], repetitions: 3 })
  await ladder.level('cold', 1, 6)
  await ladder.clock.advance(4_000)
  assert.is(ladder.leftSeconds(), 8)
  await ladder.clock.advance(20_000)
  assert.is(ladder.leftSeconds(), 6)
})

test('a level that failed at a width that is over is not waited for', async () => {
  const ladder = makeScene({ widths: [1, 2], strategies: ['cold', 'fork'], repetitions: 2 })
  for (const strategy of ['cold', 'fork', 'cold']) await ladder.level(strategy, 1, 1)
  // The second of fork at 1 failed.
  for (const strategy of ['cold', 'fork', 'cold']) await ladder.level(strategy, 2, 3)
  assert.is(ladder.leftSeconds(), 3)
})

test('it is on the line', async () => {
  const ladder = makeScene({ widths: [100], strategies: ['cold'], repetitions: 2 })
  const counter = makeCounter({ unit: 'levels', total: 2, clock: ladder.clock, leftMs: ladder.leftMs })
  await ladder.level('cold', 100, 300)
  counter.done(['0 failed'])
  assert.is(toLine(counter.view()), '1/2 levels, 5 min left, 0 failed')
})

test.run()
