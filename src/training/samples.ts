import { splitGroups, toAdvantages } from '../advantages.ts'
import type { Run } from '../rollout/run.ts'
import type { TurnTokens } from '../rollout/trajectory.ts'
import { checkGroups } from './check-groups.ts'
import { checkTokens } from './check-tokens.ts'

/** One turn that put out tokens, with all that a trainer on tokens asks of it. */
export interface TrainingSample {
  readonly groupId: string
  readonly runId: string
  /** Place among the run's turns, from 0. */
  readonly turn: number
  readonly reward: number
  /** Of its run within its group: the same for all turns of the run. */
  readonly advantage: number
  /** Which weights put it out; null where their server names none. */
  readonly policyVersion: string | null
  readonly tokens: TurnTokens
}

/** How groups become samples with advantages. */
export interface SampleOptions {
  /** As `forwardBackward` has it: absent, all runs are one group. */
  readonly groupSize?: number
  /** Default 1. */
  readonly rewardScale?: number
  /**
   * The advantages of a group's rewards. Default GRPO's (arXiv 2402.03300), as the embedded trainer has them: (r − mean) / (standard deviation
   * + 1e-4), and 0 where all are the same.
   */
  readonly advantages?: (rewards: readonly number[]) => readonly number[]
}

/**
 * What a chunk of whole groups comes to, for a trainer of one's own. Throws before anything is sent, naming the run: `no-runs`,
 * `group-size-mismatch`, `group-not-together`, `no-reward`, `no-tokens`, `unequal-tokens`, `bad-logprob`.
 */
export function toSamples(runs: readonly Run[], options: SampleOptions = {}): TrainingSample[] {
  const { groupSize, rewardScale = 1 } = options
  const size = groupSize ?? runs.length
  checkGroups(runs, groupSize)
  return splitGroups(runs, size).flatMap(members => {
    const rewards = members.map(run => run.reward ?? Number.NaN)
    const advantages = options.advantages?.(rewards) ?? toAdvantages(rewards, size, 1)
    return members.flatMap((run, member) => toRunSamples(run, (advantages[member] ?? 0) * rewardScale))
  })
}

function toRunSamples(run: Run, advantage: number): TrainingSample[] {
  const { runId, groupId, trajectory } = run
  checkTokens(runId, trajectory)
  return trajectory.turns.flatMap(({ tokens, version = null }, turn) => {
    if (tokens === undefined || tokens.output.length === 0) return []
    return [{ groupId, runId, turn, reward: run.reward ?? Number.NaN, advantage, policyVersion: version, tokens }]
  })
}
