/** The embedding of tokens and positions, done on the host: a gather there costs nothing, and its gradient is an addition. */
import type { ModelShape, Weights } from './policy.ts'

/** The parameters that the device never sees. */
export const EMBEDDINGS = ['tokens', 'positions'] as const

export interface Embedder {
  /** Writes the sum of a token's and a position's vectors to `into`, at its `row`-th vector. */
  write(token: number, position: number, into: Float32Array, row: number): void
}

/** Keeps copies: what becomes of `weights` later does not matter to it. */
export function makeEmbedder({ width }: ModelShape, weights: Weights): Embedder {
  const tokens = weights.tokens?.values.slice() ?? new Float32Array(0)
  const positions = weights.positions?.values.slice() ?? new Float32Array(0)
  return {
    write(token, position, into, row) {
      for (let i = 0; i < width; i += 1)
        into[row * width + i] = (tokens[token * width + i] ?? 0) + (positions[position * width + i] ?? 0)
    },
  }
}

/** Adds the slope of one embedded vector, the `row`-th of `slopes`, to those of the parameters it came from. */
export function addEmbeddingSlope(
  { width }: ModelShape,
  sum: Weights,
  at: { readonly token: number; readonly position: number },
  slopes: Float32Array,
  row: number,
): void {
  for (const [values, start] of [
    [sum.tokens?.values, at.token * width],
    [sum.positions?.values, at.position * width],
  ] as const) {
    if (values === undefined) continue
    for (let i = 0; i < width; i += 1) values[start + i] = (values[start + i] ?? 0) + (slopes[row * width + i] ?? 0)
  }
}
