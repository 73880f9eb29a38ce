import { isClipped, tokenLoss } from '../losses.ts'
import type { AccumulateResult, Datum } from '../policy.ts'
import { lossNotFinite } from './errors.ts'
import type { DataLoss } from './loss-plan.ts'

/**
 * What a trainer's `accumulate` would report for these data, from log-probabilities alone and without a gradient: for data that are
 * kept and learned from later. Throws `loss-not-finite` with the index of the datum.
 */
export function evaluateLoss(
  data: readonly Datum[],
  logprobs: readonly Float32Array[],
  loss: DataLoss,
): AccumulateResult {
  const sums = { loss: 0, kl: 0, clipped: 0, tokens: 0 }
  for (const [index, { advantage, logprobs: sampled }] of data.entries()) {
    let own = 0
    for (const [token, before] of sampled.entries()) {
      const now = logprobs[index]?.[token] ?? Number.NaN
      own += tokenLoss(loss, advantage, now, before)
      sums.kl += before - now
      sums.clipped += isClipped(loss, advantage, now, before) ? 1 : 0
    }
    if (!Number.isFinite(own)) throw lossNotFinite(index)
    sums.loss += own
    sums.tokens += sampled.length
  }
  const { tokens } = sums
  return { loss: sums.loss, tokens, kl: sums.kl / Math.max(1, tokens), clipped: sums.clipped / Math.max(1, tokens) }
}
