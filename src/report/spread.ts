import type { Group } from '../rollout/group.ts'

/** How far apart the rewards within groups are: a group whose rewards are all equal teaches nothing. */
export interface RewardSpread {
  /** Groups with at least two graded members; only they can have a spread. */
  readonly groups: number
  readonly withSpread: number
  /** Null when no group could have one. */
  readonly share: number | null
  /** Mean over those groups of the population standard deviation of their rewards. */
  readonly meanStd: number | null
}

/** Rewards are compared with each other, not their deviation with zero: floats that are equal have no spread. */
export function measureSpread(groups: readonly Pick<Group, 'runs'>[]): RewardSpread {
  const rewards = groups
    .map(group => group.runs.flatMap(run => (run.reward === null ? [] : [run.reward])))
    .filter(members => members.length >= 2)
  const withSpread = rewards.filter(members => members.some(reward => reward !== members[0])).length
  const sum = rewards.reduce((total, members) => total + (standardDeviation(members) ?? 0), 0)
  return {
    groups: rewards.length,
    withSpread,
    share: rewards.length === 0 ? null : withSpread / rewards.length,
    meanStd: rewards.length === 0 ? null : sum / rewards.length,
  }
}

/** Of the population; null of nothing. */
export function standardDeviation(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
