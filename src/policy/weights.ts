/** The parameters of a policy as plain data: which there are, what they start as, and whether a set of them fits a shape. */
import { makeRandom } from '../random.ts'
import { badModelShape, notThatShape } from './errors.ts'
import type { ModelShape, Weights } from './policy.ts'

/** A parameter's extent, and the standard deviation it starts with; or the number that it starts as everywhere. */
interface ParameterPlan {
  readonly shape: readonly number[]
  readonly deviation?: number
  readonly fill?: number
}

/** The factor between the width and the inner width of a block's two-layer network. */
export const WIDENING = 4

/** Every parameter's extents by name, in the one order that is used everywhere. */
export function parameterShapes(shape: ModelShape): ReadonlyMap<string, readonly number[]> {
  return new Map([...planParameters(shape)].map(([name, plan]) => [name, plan.shape]))
}

/** Starting weights; the same seed gives the same numbers. */
export function initWeights(shape: ModelShape, seed: number): Weights {
  const normal = makeNormal(makeRandom(seed))
  return mapPlans(shape, ({ shape: extents, deviation, fill }) => {
    const values = new Float32Array(sizeOf(extents))
    return deviation === undefined ? values.fill(fill ?? 0) : values.map(() => normal() * deviation)
  })
}

export function zeroWeights(shape: ModelShape): Weights {
  return mapPlans(shape, ({ shape: extents }) => new Float32Array(sizeOf(extents)))
}

/** Throws `bad-model-shape` for a shape that no model can have. */
export function checkShape(shape: ModelShape): void {
  for (const [name, value] of Object.entries(shape))
    if (!Number.isSafeInteger(value) || value < 1) throw badModelShape(`${name} is ${value}`)
  if (shape.width % shape.heads !== 0)
    throw badModelShape(`a width of ${shape.width} cannot be shared by ${shape.heads} heads`)
}

/** A copy that shares no memory. */
export function copyWeights(weights: Weights): Weights {
  return Object.fromEntries(
    Object.entries(weights).map(([name, { shape, values }]) => [name, { shape, values: values.slice() }]),
  )
}

/** Throws `wrong-shape` when `weights` are not those of a model of this shape. */
export function checkWeights(shape: ModelShape, weights: Weights): void {
  const wanted = parameterShapes(shape)
  for (const [name, extents] of wanted) {
    const found = weights[name]
    if (found === undefined) throw notThatShape(`the parameter ${name} is missing`)
    if (found.shape.join() !== extents.join() || found.values.length !== sizeOf(extents))
      throw notThatShape(`${name} is ${found.shape.join(' × ')}, not ${extents.join(' × ')}`)
  }
  const extra = Object.keys(weights).find(name => !wanted.has(name))
  if (extra !== undefined) throw notThatShape(`the parameter ${extra} is not known`)
}

/** Weights whose next-token distribution is that at temperature 1 / `factor`: only the output head is scaled. */
export function sharpenHead(weights: Weights, factor: number): Weights {
  const { head } = weights
  if (head === undefined) throw notThatShape('the parameter head is missing')
  return { ...weights, head: { shape: head.shape, values: head.values.map(value => value * factor) } }
}

/** All buffers, for a transfer to another thread. */
export function buffersOf(weights: Weights): ArrayBuffer[] {
  return Object.values(weights).flatMap(({ values }) => (values.buffer instanceof ArrayBuffer ? [values.buffer] : []))
}

function planParameters({ vocabulary, width, layers, context }: ModelShape): Map<string, ParameterPlan> {
  const plans = new Map<string, ParameterPlan>([
    ['tokens', { shape: [vocabulary, width], deviation: 0.05 }],
    ['positions', { shape: [context, width], deviation: 0.05 }],
  ])
  for (let layer = 0; layer < layers; layer += 1) {
    const add = (name: string, plan: ParameterPlan) => plans.set(`block${layer}.${name}`, plan)
    add('attention.gain', { shape: [width], fill: 1 })
    add('attention.bias', { shape: [width], fill: 0 })
    add('attention.input', { shape: [width, 3 * width], deviation: 0.05 })
    add('attention.output', { shape: [width, width], deviation: 0.03 })
    add('inner.gain', { shape: [width], fill: 1 })
    add('inner.bias', { shape: [width], fill: 0 })
    add('inner.input', { shape: [width, WIDENING * width], deviation: 0.05 })
    add('inner.inputBias', { shape: [WIDENING * width], fill: 0 })
    add('inner.output', { shape: [WIDENING * width, width], deviation: 0.03 })
    add('inner.outputBias', { shape: [width], fill: 0 })
  }
  plans.set('gain', { shape: [width], fill: 1 })
  plans.set('bias', { shape: [width], fill: 0 })
  plans.set('head', { shape: [width, vocabulary], deviation: 0.02 })
  return plans
}

function mapPlans(shape: ModelShape, values: (plan: ParameterPlan) => Float32Array): Weights {
  return Object.fromEntries(
    [...planParameters(shape)].map(([name, plan]) => [name, { shape: plan.shape, values: values(plan) }]),
  )
}

function sizeOf(extents: readonly number[]): number {
  return extents.reduce((product, extent) => product * extent, 1)
}

/** Numbers from the standard normal distribution (Box and Muller 1958). */
function makeNormal(random: () => number): () => number {
  let spare: number | undefined
  return () => {
    if (spare !== undefined) {
      const value = spare
      spare = undefined
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(1 - random()))
    const angle = 2 * Math.PI * random()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}
