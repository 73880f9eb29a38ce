/** The numeric library: the one place that imports it, and only when a sampler or a trainer is made. */
import type * as JaxModule from '@jax-js/jax'
import { EMBEDDINGS } from '../embed.ts'
import type { Weights } from '../policy.ts'

export type Jax = typeof JaxModule
/** Every operation takes over its arguments; `.ref` keeps one for another use. */
export type Tensor = JaxModule.Array
export type Tensors = Record<string, Tensor>

let loading: Promise<Jax> | undefined

/** The library, ready for use on one WebAssembly thread. Loaded once in a thread. */
export function loadJax(): Promise<Jax> {
  loading ??= startJax()
  return loading
}

async function startJax(): Promise<Jax> {
  const jax = await import('@jax-js/jax')
  await jax.init('wasm')
  jax.defaultDevice('wasm')
  return jax
}

/** The parameters that the device works with: all but the embeddings. */
export function toTensors({ numpy }: Jax, weights: Weights): Tensors {
  const hostOnly: readonly string[] = EMBEDDINGS
  return Object.fromEntries(
    Object.entries(weights)
      .filter(([name]) => !hostOnly.includes(name))
      .map(([name, { shape, values }]) => [name, numpy.array(values, { shape: [...shape] })]),
  )
}

export function floats({ numpy }: Jax, values: Float32Array, ...shape: number[]): Tensor {
  return numpy.array(values, { shape })
}

export function integers({ numpy }: Jax, values: Int32Array, ...shape: number[]): Tensor {
  return numpy.array(values, { shape, dtype: numpy.int32 })
}

export function dispose(tensors: Tensors): void {
  for (const tensor of Object.values(tensors)) tensor.dispose()
}

export async function readFloats(tensor: Tensor): Promise<Float32Array> {
  const data = await tensor.data()
  return data instanceof Float32Array ? data : Float32Array.from(data)
}
