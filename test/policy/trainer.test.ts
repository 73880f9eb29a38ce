import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { makeJaxTrainer } from '../../src/policy/jax/trainer.ts'
import type { AdamOptions, Datum, PolicyTrainer } from '../../src/policy/policy.ts'
import { suite } from '../support/suite.ts'
import {
  drawData,
  freshState,
  gradientOf,
  mapWeights,
  relativeDistance,
  SMALL,
  sampledNear,
  unevenWeights,
} from './scene.ts'

const test = suite('trainer')

const ADAM: AdamOptions = { learningRate: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0 }
const weights = unevenWeights()
let trainer: PolicyTrainer
let data: Datum[]

test.before(async () => {
  trainer = await makeJaxTrainer(SMALL)
  await trainer.load(freshState(weights))
  data = await sampledNear(trainer, drawData(10))
})

test.beforeEach(() => trainer.load(freshState(weights)))
test.after(() => trainer.close())

test('a loss that is not finite names its datum, and nothing of the call is added', async () => {
  await trainer.accumulate(data, { name: 'importance_sampling' })
  const before = await gradientOf(trainer)
  const broken = (change: Partial<Datum>) => data.map((datum, i) => (i === 6 ? { ...datum, ...change } : datum))
  const length = data[6]?.output.length ?? 0
  for (const change of [
    { advantage: Number.NaN },
    { logprobs: new Float32Array(length).fill(Number.NEGATIVE_INFINITY) },
    { logprobs: new Float32Array(length).fill(-200) },
  ]) {
    const error = await rejection(trainer.accumulate(broken(change), { name: 'importance_sampling' }))
    assert.ok(hasTag(error, 'loss-not-finite'))
    assert.is(error.data.details?.datum, 6)
  }
  assert.is(relativeDistance(await gradientOf(trainer), before), 0)
})

test('weights that have diverged are told as a loss that is not finite', async () => {
  await trainer.load(freshState(mapWeights(weights, (value, name) => (name === 'head' ? Number.NaN : value))))
  assert.ok(hasTag(await rejection(trainer.accumulate(data, { name: 'cross_entropy' })), 'loss-not-finite'))
})

test('data that do not fit the model are refused by their index', async () => {
  const [first] = data
  if (first === undefined) throw new Error('no data')
  for (const wrong of [
    { ...first, prompt: new Uint32Array(0) },
    { ...first, prompt: new Uint32Array(SMALL.context) },
    { ...first, logprobs: new Float32Array(first.output.length + 1) },
    { ...first, prompt: Uint32Array.of(SMALL.vocabulary) },
  ]) {
    const error = await rejection(trainer.accumulate([first, wrong], { name: 'cross_entropy' }))
    assert.ok(hasTag(error, 'bad-datum'))
    assert.is(error.data.details?.datum, 1)
  }
  const error = await rejection(trainer.accumulate([first], { name: 'weights', weights: [] }))
  assert.ok(hasTag(error, 'bad-datum'))
})

test('a step needs a gradient, and settings that lead somewhere', async () => {
  assert.ok(hasTag(await rejection(trainer.step(ADAM)), 'nothing-accumulated'))
  await trainer.accumulate(data, { name: 'cross_entropy' })
  assert.ok(hasTag(await rejection(trainer.step({ ...ADAM, learningRate: 0 })), 'bad-optimiser'))
  await trainer.step(ADAM)
  assert.ok(hasTag(await rejection(trainer.step(ADAM)), 'nothing-accumulated'), 'the step cleared it')
})

test('steps along the gradient lower the loss, and the weights they return are those they go on with', async () => {
  const target = data.map(datum => ({ ...datum, advantage: 0.1 }))
  const first = await trainer.accumulate(target, { name: 'cross_entropy' })
  for (let i = 0; i < 8; i += 1) {
    await trainer.step(ADAM)
    await trainer.accumulate(target, { name: 'cross_entropy' })
  }
  const stepped = await trainer.step(ADAM)
  const state = await trainer.state()
  assert.is(state.step, 9)
  assert.equal(stepped, state.weights)
  const last = await trainer.accumulate(target, { name: 'cross_entropy' })
  assert.ok(last.loss < 0.8 * first.loss, `${first.loss} to ${last.loss}`)
})

test('training goes on from a state as if it had never stopped', async () => {
  const half = async () => {
    await trainer.accumulate(data, { name: 'dro', beta: 0.1 })
    await trainer.step(ADAM)
    await trainer.accumulate(data.slice(0, 5), { name: 'importance_sampling' })
  }
  const rest = async () => {
    await trainer.accumulate(data.slice(5), { name: 'importance_sampling' })
    return trainer.step(ADAM)
  }
  await half()
  const kept = await trainer.state()
  const straight = await rest()
  await trainer.load(kept)
  assert.equal(await rest(), straight)
})

test('figures count tokens, the drift from the sampling policy, and what was clipped', async () => {
  const current = await trainer.logprobs(data)
  const shifted = data.map((datum, i) => ({
    ...datum,
    advantage: 1,
    logprobs: Float32Array.from(current[i] ?? [], value => value + (i < 5 ? -0.5 : 0.5)),
  }))
  const tokens = shifted.reduce((sum, { output }) => sum + output.length, 0)
  const far = shifted.slice(0, 5).reduce((sum, { output }) => sum + output.length, 0)
  const figures = await trainer.accumulate(shifted, { name: 'ppo', low: 0.8, high: 1.28 })
  assert.is(figures.tokens, tokens)
  assert.ok(Math.abs(figures.clipped - far / tokens) < 1e-6)
  assert.ok(Math.abs(figures.kl - (0.5 * (tokens - far) - 0.5 * far) / tokens) < 1e-4)
})

test('the event loop turns while a gradient is computed, and calls wait for each other', async () => {
  let turns = 0
  const ticking = setInterval(() => {
    turns += 1
  }, 1)
  const many = drawData(400)
  const [first, second] = await Promise.all([
    trainer.accumulate(many, { name: 'cross_entropy' }).then(() => trainer.state()),
    trainer.accumulate(data, { name: 'cross_entropy' }),
  ])
  clearInterval(ticking)
  assert.ok(turns > 3, `${turns} turns`)
  assert.ok(first.gradient !== undefined)
  assert.ok(second.tokens > 0)
})

test('nothing can be done before weights are loaded', async () => {
  const empty = await makeJaxTrainer(SMALL)
  assert.ok(hasTag(await rejection(empty.accumulate(data, { name: 'cross_entropy' })), 'policy-not-loaded'))
  await empty.close()
  assert.ok(hasTag(await rejection(empty.state()), 'policy-closed'))
  const wrong = unevenWeights({ ...SMALL, width: 4 })
  assert.ok(hasTag(await rejection(trainer.load(freshState(wrong))), 'wrong-shape'))
})

test.run()

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    error => error,
  )
}
