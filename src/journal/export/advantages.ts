import { toAdvantages as overGroup } from '../../advantages.ts'
import type { RunHeader } from '../../rollout/run.ts'

/**
 * The advantages of a group's graded members by run id: those that the embedded trainer takes, GRPO's (arXiv 2402.03300), (r − mean) /
 * (standard deviation + 1e-4), and 0 where all rewards are the same. An ungraded member has none, and is no part of the mean.
 */
export function toAdvantages(headers: readonly RunHeader[]): ReadonlyMap<string, number> {
  const graded = headers.flatMap(({ runId, reward }) => (reward === null ? [] : [{ runId, reward }]))
  const rewards = graded.map(({ reward }) => reward)
  const advantages = graded.length === 0 ? [] : overGroup(rewards, rewards.length, 1)
  return new Map(graded.map(({ runId }, place) => [runId, advantages[place] ?? 0]))
}
