/** A model small enough for quick tests, and data for it. */
import type { Datum, ModelShape, PolicyTrainer, TrainingState, Weights } from '../../src/policy/policy.ts'
import { initWeights, zeroWeights } from '../../src/policy/weights.ts'
import { makeRandom } from '../../src/random.ts'

export const SMALL: ModelShape = { vocabulary: 30, width: 8, heads: 2, layers: 2, context: 16 }

/** Weights that are far from even: every parameter matters. */
export function unevenWeights(shape: ModelShape = SMALL, seed = 1): Weights {
  const random = makeRandom(seed)
  return mapWeights(initWeights(shape, seed), value => value + 0.8 * (random() - 0.5))
}

export function mapWeights(weights: Weights, change: (value: number, name: string, i: number) => number): Weights {
  return Object.fromEntries(
    Object.entries(weights).map(([name, { shape, values }]) => [
      name,
      { shape, values: values.map((value, i) => change(value, name, i)) },
    ]),
  )
}

export function freshState(weights: Weights, shape: ModelShape = SMALL): TrainingState {
  return { weights, first: zeroWeights(shape), second: zeroWeights(shape), step: 0 }
}

/** Turns of several lengths; every third shares its prompt with the one before it. */
export function drawData(count: number, shape: ModelShape = SMALL, seed = 7): Datum[] {
  const random = makeRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const tokens = (length: number) => Uint32Array.from({ length }, () => below(shape.vocabulary))
  const data: Datum[] = []
  for (let i = 0; i < count; i += 1) {
    const last = data.at(-1)
    const prompt = i % 3 === 2 && last !== undefined ? last.prompt : tokens(1 + below(7))
    const output = tokens(1 + below(shape.context - prompt.length))
    const logprobs = Float32Array.from(output, () => -3 - random())
    data.push({ prompt, output, logprobs, advantage: 2 * random() - 1 })
  }
  return data
}

/** The same data as they would have been sampled a little away from these weights: ratios are near 1 and off it. */
export async function sampledNear(trainer: PolicyTrainer, data: readonly Datum[], seed = 3): Promise<Datum[]> {
  const random = makeRandom(seed)
  const current = await trainer.logprobs(data)
  return data.map((datum, i) => ({
    ...datum,
    logprobs: Float32Array.from(current[i] ?? [], value => value + 0.8 * (random() - 0.5)),
  }))
}

export async function gradientOf(trainer: PolicyTrainer): Promise<Weights> {
  const { gradient } = await trainer.state()
  if (gradient === undefined) throw new Error('nothing was accumulated')
  return gradient
}

export function dot(a: Weights, b: Weights): number {
  let sum = 0
  for (const [name, { values }] of Object.entries(a))
    for (const [i, value] of values.entries()) sum += value * (b[name]?.values[i] ?? 0)
  return sum
}

/** How far `a` is from `b`, as a share of the length of `b`. */
export function relativeDistance(a: Weights, b: Weights): number {
  const difference = mapWeights(a, (value, name, i) => value - (b[name]?.values[i] ?? 0))
  return Math.sqrt(dot(difference, difference) / dot(b, b))
}
