import type { Trajectory, TurnTokens } from '../rollout/trajectory.ts'
import { badLogprob, noTokens, unequalTokens } from './errors.ts'

/**
 * The turns to be trained on: those that put out tokens. Throws, naming run and turn, `unequal-tokens` and `bad-logprob` (one that is
 * no finite number), and `no-tokens` where no turn has any.
 */
export function checkTokens(runId: string, trajectory: Trajectory): TurnTokens[] {
  const trained: TurnTokens[] = []
  for (const [turn, { tokens }] of trajectory.turns.entries()) {
    if (tokens === undefined) continue
    const { output, logprobs } = tokens
    if (output.length !== logprobs.length) throw unequalTokens(runId, turn, output.length, logprobs.length)
    for (let token = 0; token < logprobs.length; token += 1) {
      const value = logprobs[token] ?? Number.NaN
      if (!Number.isFinite(value)) throw badLogprob(runId, turn, token, value)
    }
    if (output.length > 0) trained.push(tokens)
  }
  if (trained.length === 0) throw noTokens(runId)
  return trained
}
