/** Added to the standard deviation, so that a spread near nothing gives no advantage near infinity. */
const EPSILON = 1e-4

/**
 * GRPO's advantages (Shao et al. 2024, arXiv 2402.03300): reward_scale · (r − mean) / (standard deviation + 1e-4) within each
 * contiguous group of `groupSize` rewards, with the population's deviation. A group whose rewards are all the same gets 0 exactly:
 * the rewards are compared, not a deviation that rounding may leave a little above nothing. `groupSize` divides the count.
 */
export function toAdvantages(rewards: readonly number[], groupSize: number, rewardScale: number): number[] {
  return splitGroups(rewards, groupSize).flatMap(group => {
    if (!hasSpread(group)) return group.map(() => 0)
    const mean = meanOf(group)
    const scale = rewardScale / (deviationOf(group) + EPSILON)
    return group.map(reward => (reward - mean) * scale)
  })
}

/** Contiguous groups of `groupSize`, which divides the count. */
export function splitGroups<Item>(items: readonly Item[], groupSize: number): Item[][] {
  return Array.from({ length: items.length / groupSize }, (_, group) =>
    items.slice(group * groupSize, (group + 1) * groupSize),
  )
}

/** The population's standard deviation; 0 exactly where all are the same. */
export function deviationOf(values: readonly number[]): number {
  if (!hasSpread(values)) return 0
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map(value => (value - mean) ** 2)))
}

function hasSpread(values: readonly number[]): boolean {
  return values.some(value => value !== values[0])
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
