/** An agent whose policy is a handful of numbers, and is always the newest that the training script has sent back. */
import { type AgentSpec, createAgent } from 'troupe'
import type { Policy } from './queue.ts'

/** What it may add to the right answer: the policy has to learn that 0 is best. */
export const MISTAKES = [-1, 0, 1, 10]

export function makePolicyAgent(policy: () => Policy, onStart: () => void = () => {}): AgentSpec {
  return createAgent({
    name: 'softmax',
    async run({ prompt, seed, record }) {
      onStart()
      const { logits, version } = policy()
      const weights = logits.map(Math.exp)
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const token = draw(weights, ((seed % 10_007) / 10_007) * total)
      const [a = 0, b = 0] = (String(prompt).match(/\d+/g) ?? []).map(Number)
      const answer = String(a + b + (MISTAKES[token] ?? 0))
      record({
        role: 'assistant',
        text: answer,
        atMs: 0,
        tookMs: 0,
        version: `v${version}`,
        tokens: {
          prompt: Uint32Array.of(a, b),
          output: Uint32Array.of(token),
          logprobs: Float32Array.of(Math.log((weights[token] ?? 1) / total)),
        },
      })
      return { answer, stop: 'done' }
    },
  })
}

/** The place in whose share of the sum `at` lies. */
function draw(weights: readonly number[], at: number): number {
  let sum = 0
  for (const [place, weight] of weights.entries()) {
    sum += weight
    if (at < sum) return place
  }
  return weights.length - 1
}
