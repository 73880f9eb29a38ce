/**
 * Losses as plain arithmetic: what one token adds to the loss, and the same as coefficients of a formula that all losses share, so
 * that one compiled gradient serves them all.
 */
import type { Loss } from './policy.ts'

/**
 * How the device weighs a token whose log-probability is l and was o when it was sampled, with r = exp(l − o): minus the slope of
 * the loss is
 * r · (up · [r ≤ high] + down · [r ≥ low]) + clip(r, low, high) · held + plain − pull · (l − o).
 * Sums of these over data are again such coefficients: rows that agree in their tokens and in o are merged by adding them.
 */
export interface Coefficients {
  up: number
  down: number
  held: number
  plain: number
  pull: number
}

export interface RatioBounds {
  readonly low: number
  readonly high: number
}

/** Past every ratio that float32 can hold. */
const UNBOUNDED: RatioBounds = { low: -1, high: 3e38 }

export function ratioBounds(loss: Loss): RatioBounds {
  return loss.name === 'ppo' || loss.name === 'cispo' ? loss : UNBOUNDED
}

/** The coefficients of one token. `weight` is its own where the loss is `weights`, else its datum's advantage. */
export function coefficientsOf(loss: Loss, weight: number): Coefficients {
  const none = { up: 0, down: 0, held: 0, plain: 0, pull: 0 }
  switch (loss.name) {
    case 'cross_entropy':
    case 'weights':
      return { ...none, plain: weight }
    case 'importance_sampling':
      return { ...none, up: weight }
    case 'ppo':
      return weight > 0 ? { ...none, up: weight } : { ...none, down: weight }
    case 'cispo':
      return { ...none, held: weight }
    case 'dro':
      return { ...none, plain: weight, pull: loss.beta }
  }
}

/** What one token adds to the loss. */
export function tokenLoss(loss: Loss, weight: number, logprob: number, sampled: number): number {
  const ratio = Math.exp(logprob - sampled)
  switch (loss.name) {
    case 'cross_entropy':
    case 'weights':
      return -weight * logprob
    case 'importance_sampling':
      return -ratio * weight
    case 'ppo':
      return -Math.min(ratio * weight, clip(ratio, loss) * weight)
    case 'cispo':
      return -clip(ratio, loss) * weight * logprob
    case 'dro':
      return -(weight * logprob - 0.5 * loss.beta * (logprob - sampled) ** 2)
  }
}

/** Whether the loss cuts off a token's ratio: for `ppo` on the side where that takes the token's slope away. */
export function isClipped(loss: Loss, weight: number, logprob: number, sampled: number): boolean {
  const ratio = Math.exp(logprob - sampled)
  switch (loss.name) {
    case 'ppo':
      return (weight > 0 && ratio > loss.high) || (weight < 0 && ratio < loss.low)
    case 'cispo':
      return ratio < loss.low || ratio > loss.high
    default:
      return false
  }
}

function clip(ratio: number, { low, high }: RatioBounds): number {
  return Math.min(Math.max(ratio, low), high)
}
