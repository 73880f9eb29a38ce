import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { choose } from '../../src/tune/choose.ts'
import { findKnee, toFront } from '../../src/tune/front.ts'
import { suite } from '../support/suite.ts'
import { madeUp } from './made-up.ts'

const test = suite('tune: choosing')

const cheap = madeUp(100, 60_000, { hitRate: 0.2 })
const middle = madeUp(200, 51_000, { hitRate: 0.9 })
const dear = madeUp(1_000, 50_000, { hitRate: 1 })
const all = [dear, cheap, middle]

test('of those that keep to a hit rate or a latency, the cheapest; of those within a budget, the quickest', () => {
  assert.equal(choose(all, { type: 'hit-rate', atLeast: 0.9 }), { chosen: middle, isMet: true })
  assert.equal(choose(all, { type: 'step-latency', atMostMs: 50_500 }), { chosen: dear, isMet: true })
  assert.equal(choose(all, { type: 'budget', perStep: 300 }), { chosen: middle, isMet: true })
})

test('where none does, what comes nearest, and it says so', () => {
  assert.equal(choose([cheap, middle], { type: 'hit-rate', atLeast: 0.99 }), { chosen: middle, isMet: false })
  assert.equal(choose(all, { type: 'step-latency', atMostMs: 1 }), { chosen: dear, isMet: false })
  assert.equal(choose(all, { type: 'budget', perStep: 1 }), { chosen: cheap, isMet: false })
  assert.is(choose([], { type: 'knee' }), undefined)
})

test('the knee lies farthest from the straight line between the ends', () => {
  assert.is(findKnee(toFront(all)), middle)
  assert.is(findKnee(toFront([cheap, dear])), undefined, 'two ends have none')
  const straight = [0, 1, 2, 3].map(place => madeUp(100 + place, 1_000 - place))
  assert.is(findKnee(toFront(straight)), undefined, 'nor has a straight line')
})

test('the front is what nobody beats, and everything else is beaten by some of it', () => {
  const plan = fc
    .tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }))
    .map(([idle, s]) => madeUp(idle, s * 1_000))
  fc.assert(
    fc.property(fc.array(plan, { minLength: 1, maxLength: 40 }), plans => {
      const front = toFront(plans)
      const beats = (one: (typeof plans)[number], other: (typeof plans)[number]) =>
        one.idleSeconds.mean <= other.idleSeconds.mean && one.stepMs.mean <= other.stepMs.mean
      for (const each of front) assert.not(front.some(other => other !== each && beats(other, each)))
      for (const each of plans) assert.ok(front.some(other => beats(other, each)))
    }),
  )
})

test.run()
