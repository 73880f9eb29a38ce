/** Adam with decoupled weight decay (Kingma and Ba 2015, arXiv 1412.6980; Loshchilov and Hutter 2019, arXiv 1711.05101). */
import type { AdamOptions, Weights } from './policy.ts'

/** What a step changes: all three are written to in place. */
export interface Optimised {
  readonly weights: Weights
  readonly first: Weights
  readonly second: Weights
}

/** One step, the `step`-th (from 1, for the bias correction). Decay, as is usual, leaves alone gains and biases. */
export function adamStep(state: Optimised, gradient: Weights, step: number, options: AdamOptions): void {
  const { learningRate, beta1, beta2, eps, weightDecay } = options
  const firstCorrection = 1 - beta1 ** step
  const secondCorrection = 1 - beta2 ** step
  for (const [name, { shape, values }] of Object.entries(state.weights)) {
    const first = state.first[name]?.values ?? new Float32Array(0)
    const second = state.second[name]?.values ?? new Float32Array(0)
    const slopes = gradient[name]?.values ?? new Float32Array(0)
    const decay = shape.length > 1 ? learningRate * weightDecay : 0
    for (let i = 0; i < values.length; i += 1) {
      const slope = slopes[i] ?? 0
      const mean = beta1 * (first[i] ?? 0) + (1 - beta1) * slope
      const spread = beta2 * (second[i] ?? 0) + (1 - beta2) * slope * slope
      const value = values[i] ?? 0
      first[i] = mean
      second[i] = spread
      values[i] =
        value - decay * value - (learningRate * (mean / firstCorrection)) / (Math.sqrt(spread / secondCorrection) + eps)
    }
  }
}
