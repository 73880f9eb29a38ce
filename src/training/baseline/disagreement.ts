import { type Interval, wilsonInterval } from '../receipt/interval.ts'

/** Rewards of one task's attempts; those without a grade are not among them. */
export interface TaskAttempts {
  readonly slug: string
  readonly rewards: readonly number[]
  /** Attempts without a grade. */
  readonly failed: number
}

export type Verdict = 'learnable' | 'too-easy' | 'too-hard' | 'attempts-agree' | 'nothing-graded'

/** What a group of some size is expected to be worth. */
export interface GroupSizeEstimate {
  readonly group: number
  /** Share of groups of that size whose rewards would differ. */
  readonly informative: number
}

/** How a model does without training, and whether a training would find anything to learn from. */
export interface Baseline {
  readonly verdict: Verdict
  readonly runs: number
  readonly graded: number
  readonly solved: number
  /** Of the graded runs; null when there are none. */
  readonly passRate: number | null
  readonly interval: Interval
  readonly meanReward: number | null
  /** Tasks with at least two graded attempts; only they can disagree. */
  readonly groups: number
  readonly disagreeing: number
  readonly sizes: readonly GroupSizeEstimate[]
  readonly tasks: readonly {
    readonly slug: string
    readonly graded: number
    readonly solved: number
    readonly failed: number
    readonly disagrees: boolean
  }[]
}

/** Fewer disagreeing groups than this share leave a step with too little to learn from. */
const ENOUGH = 0.25
const EASY = 0.9
const HARD = 0.1
const SIZES = [2, 4, 8, 16, 32, 64]

/** Pure. A task is solved by the full reward of 1. */
export function measureBaseline(attempts: readonly TaskAttempts[]): Baseline {
  const rewards = attempts.flatMap(task => task.rewards)
  const solved = rewards.filter(isSolved).length
  const comparable = attempts.filter(task => task.rewards.length >= 2)
  const disagreeing = comparable.filter(task => disagree(task.rewards)).length
  const meanReward = rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  return {
    verdict: judge(comparable.length, disagreeing, meanReward),
    runs: rewards.length + attempts.reduce((sum, task) => sum + task.failed, 0),
    graded: rewards.length,
    solved,
    passRate: rewards.length === 0 ? null : solved / rewards.length,
    interval: wilsonInterval(solved, rewards.length),
    meanReward,
    groups: comparable.length,
    disagreeing,
    sizes: estimateSizes(comparable),
    tasks: attempts.map(task => ({
      slug: task.slug,
      graded: task.rewards.length,
      solved: task.rewards.filter(isSolved).length,
      failed: task.failed,
      disagrees: disagree(task.rewards),
    })),
  }
}

function judge(groups: number, disagreeing: number, meanReward: number | null): Verdict {
  if (meanReward === null || groups === 0) return 'nothing-graded'
  if (disagreeing / groups >= ENOUGH) return 'learnable'
  if (meanReward >= EASY) return 'too-easy'
  if (meanReward <= HARD) return 'too-hard'
  return 'attempts-agree'
}

/**
 * For each size that the attempts reach, the chance that so many of a task's attempts, drawn without putting back, differ: one less
 * the chance that all drawn have the same reward, which is unbiased. Larger groups are not guessed at.
 */
function estimateSizes(tasks: readonly TaskAttempts[]): GroupSizeEstimate[] {
  const most = Math.min(...tasks.map(task => task.rewards.length))
  if (!Number.isFinite(most)) return []
  const sizes = [...new Set([...SIZES.filter(size => size < most), most])]
  return sizes.map(group => ({
    group,
    informative: tasks.reduce((sum, { rewards }) => sum + chanceToDiffer(rewards, group), 0) / tasks.length,
  }))
}

function chanceToDiffer(rewards: readonly number[], drawn: number): number {
  const counts = new Map<number, number>()
  for (const reward of rewards) counts.set(reward, (counts.get(reward) ?? 0) + 1)
  let alike = 0
  for (const count of counts.values()) {
    let chance = 1
    for (let taken = 0; taken < drawn; taken++) chance *= Math.max(0, count - taken) / (rewards.length - taken)
    alike += chance
  }
  return 1 - alike
}

function disagree(rewards: readonly number[]): boolean {
  return rewards.some(reward => reward !== rewards[0])
}

function isSolved(reward: number): boolean {
  return reward >= 1
}
