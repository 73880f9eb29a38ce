import * as assert from 'uvu/assert'
import { makeJaxTrainer } from '../../src/policy/jax/trainer.ts'
import type { Datum, Loss, PolicyTrainer, Weights } from '../../src/policy/policy.ts'
import { makeRandom } from '../../src/random.ts'
import { suite } from '../support/suite.ts'
import {
  dot,
  drawData,
  freshState,
  gradientOf,
  mapWeights,
  relativeDistance,
  SMALL,
  sampledNear,
  unevenWeights,
} from './scene.ts'

const test = suite('gradients')

const weights = unevenWeights()
let trainer: PolicyTrainer
let data: Datum[]

test.before(async () => {
  trainer = await makeJaxTrainer(SMALL)
  await trainer.load(freshState(weights))
  data = await sampledNear(trainer, drawData(14))
})

test.after(() => trainer.close())

/** What the contract says a token adds; what stands still under differentiation is taken from `held`. */
type Objective = (logprob: number, sampled: number, advantage: number, held: number, datum: number, t: number) => number

const ratio = (logprob: number, sampled: number) => Math.exp(logprob - sampled)
const clip = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)
const tokenWeights = drawData(14).map(({ output }, i) => Float32Array.from(output, (_, t) => Math.sin(5 * i + t)))

const CASES: readonly (readonly [Loss, Objective])[] = [
  [{ name: 'cross_entropy' }, (l, _, a) => -a * l],
  [{ name: 'importance_sampling' }, (l, o, a) => -ratio(l, o) * a],
  [{ name: 'ppo', low: 0.8, high: 1.28 }, (l, o, a) => -Math.min(ratio(l, o) * a, clip(ratio(l, o), 0.8, 1.28) * a)],
  [{ name: 'cispo', low: 0.9, high: 1.1 }, (l, o, a, held) => -clip(ratio(held, o), 0.9, 1.1) * a * l],
  [{ name: 'dro', beta: 0.3 }, (l, o, a) => -(a * l - 0.5 * 0.3 * (l - o) ** 2)],
  [{ name: 'weights', weights: tokenWeights }, (l, _o, _a, _h, i, t) => -(tokenWeights[i]?.[t] ?? 0) * l],
]

for (const [loss, objective] of CASES) {
  test(`the gradient of ${loss.name} is that of finite differences`, async () => {
    await trainer.load(freshState(weights))
    const held = await trainer.logprobs(data)
    const total = async (at: Weights) => {
      await trainer.load(freshState(at))
      return evaluate(objective, await trainer.logprobs(data), held)
    }
    const { loss: told } = await trainer.accumulate(data, loss)
    assert.ok(Math.abs(told - evaluate(objective, held, held)) < 1e-4)
    const gradient = await gradientOf(trainer)
    const length = Math.sqrt(dot(gradient, gradient))
    for (const direction of directions(weights)) {
      const step = 2e-3
      const ahead = await total(mapWeights(weights, (value, name, i) => value + step * at(direction, name, i)))
      const behind = await total(mapWeights(weights, (value, name, i) => value - step * at(direction, name, i)))
      const measured = (ahead - behind) / (2 * step)
      const claimed = dot(gradient, direction)
      assert.ok(Math.abs(measured - claimed) < 0.01 * length, `${measured} against ${claimed} of ${length}`)
    }
  })
}

test('loss and gradient do not depend on how the data are cut into calls, or on their order', async () => {
  const many = await sampledNear(trainer, drawData(120))
  for (const [loss] of CASES.slice(0, 5)) {
    await trainer.load(freshState(weights))
    const whole = await trainer.accumulate(many, loss)
    const reference = await gradientOf(trainer)
    await trainer.load(freshState(weights))
    const parts = [many.slice(80), many.slice(0, 11), many.slice(11, 80)]
    let sum = 0
    for (const part of parts) sum += (await trainer.accumulate(part.toReversed(), loss)).loss
    assert.ok(Math.abs(sum - whole.loss) < 1e-4 * Math.max(1, Math.abs(whole.loss)), loss.name)
    const distance = relativeDistance(await gradientOf(trainer), reference)
    assert.ok(distance < 1e-5, `${loss.name}: ${distance}`)
  }
})

test('data that are merged have the gradient of the same data one by one', async () => {
  const [first, second] = data
  if (first === undefined || second === undefined) throw new Error('too few data')
  const twins = [1.5, -0.7, 0.9, -0.4].flatMap(advantage => [
    { ...first, advantage },
    { ...second, advantage: -advantage },
  ])
  for (const [loss] of CASES.slice(0, 5)) {
    await trainer.load(freshState(weights))
    const merged = await trainer.accumulate(twins, loss)
    const gradient = await gradientOf(trainer)
    await trainer.load(freshState(weights))
    let sum = 0
    for (const twin of twins) sum += (await trainer.accumulate([twin], loss)).loss
    assert.ok(Math.abs(sum - merged.loss) < 1e-5, loss.name)
    assert.ok(relativeDistance(gradient, await gradientOf(trainer)) < 1e-5, loss.name)
  }
})

test.run()

function evaluate(objective: Objective, logprobs: readonly Float32Array[], held: readonly Float32Array[]): number {
  let sum = 0
  for (const [i, { advantage, logprobs: sampled }] of data.entries())
    for (const [t, logprob] of (logprobs[i] ?? new Float32Array(0)).entries())
      sum += objective(logprob, sampled[t] ?? 0, advantage, held[i]?.[t] ?? 0, i, t)
  return sum
}

/** One random direction of unit length in each parameter alone, and two in all together. */
function directions(like: Weights): Weights[] {
  const random = makeRandom(11)
  const names = Object.keys(like)
  return [...names.map(name => [name]), names, names].map(chosen => {
    const direction = mapWeights(like, (_, name) => (chosen.includes(name) ? random() - 0.5 : 0))
    const length = Math.sqrt(dot(direction, direction))
    return mapWeights(direction, value => value / length)
  })
}

function at(direction: Weights, name: string, i: number): number {
  return direction[name]?.values[i] ?? 0
}
