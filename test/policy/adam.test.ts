import * as assert from 'uvu/assert'
import { adamStep } from '../../src/policy/adam.ts'
import type { Weights } from '../../src/policy/policy.ts'
import { suite } from '../support/suite.ts'

const test = suite('adam')

const one = (value: number, shape = [1, 1]): Weights => ({ w: { shape, values: Float32Array.of(value) } })
const OPTIONS = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0 }
const near = (found: number | undefined, wanted: number) =>
  assert.ok(Math.abs((found ?? Number.NaN) - wanted) < 1e-6, `${found} is not ${wanted}`)

test('the first step is the learning rate along the sign of the gradient, however small that is', () => {
  for (const slope of [1e-3, -50]) {
    const state = { weights: one(1), first: one(0), second: one(0) }
    adamStep(state, one(slope), 1, OPTIONS)
    near(state.weights.w?.values[0], 1 - 0.1 * Math.sign(slope))
  }
})

test('moments are running means, corrected for their start by the step count', () => {
  const state = { weights: one(0), first: one(0), second: one(0) }
  adamStep(state, one(1), 1, OPTIONS)
  adamStep(state, one(3), 2, OPTIONS)
  const [first, second] = [0.9 * 0.1 + 0.1 * 3, 0.99 * 0.01 + 0.01 * 9]
  near(state.first.w?.values[0], first)
  near(state.second.w?.values[0], second)
  near(state.weights.w?.values[0], -0.1 - (0.1 * (first / (1 - 0.9 ** 2))) / Math.sqrt(second / (1 - 0.99 ** 2)))
})

test('decay is apart from the gradient, and spares gains and biases', () => {
  const decayed = { weights: one(2), first: one(0), second: one(0) }
  adamStep(decayed, one(0), 1, { ...OPTIONS, weightDecay: 0.5 })
  near(decayed.weights.w?.values[0], 2 - 0.1 * 0.5 * 2)
  const bias = { weights: one(2, [1]), first: one(0, [1]), second: one(0, [1]) }
  adamStep(bias, one(0, [1]), 1, { ...OPTIONS, weightDecay: 0.5 })
  near(bias.weights.w?.values[0], 2)
})

test.run()
