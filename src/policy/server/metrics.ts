import { deviationOf, splitGroups } from '../../advantages.ts'
import type { AccumulateResult } from '../policy.ts'

/** Sums that add up over calls, and from which all figures of a call or of a step are made. */
export interface Tally {
  readonly traces: number
  readonly rewards: number
  readonly groups: number
  /** The sum of each group's standard deviation. */
  readonly spreads: number
  /** Data that were trained on, and their output tokens. */
  readonly datums: number
  readonly tokens: number
  readonly loss: number
  /** Tokens whose sampling log-probabilities are known, and sums over them. */
  readonly compared: number
  readonly kl: number
  readonly clipped: number
}

export const emptyTally: Tally = {
  traces: 0,
  rewards: 0,
  groups: 0,
  spreads: 0,
  datums: 0,
  tokens: 0,
  loss: 0,
  compared: 0,
  kl: 0,
  clipped: 0,
}

export function toTally(
  rewards: readonly number[],
  groupSize: number,
  datums: number,
  { loss, tokens, kl, clipped }: AccumulateResult,
  isCompared: boolean,
): Tally {
  const groups = splitGroups(rewards, groupSize)
  return {
    traces: rewards.length,
    rewards: sum(rewards),
    groups: groups.length,
    spreads: sum(groups.map(deviationOf)),
    datums,
    tokens,
    loss,
    compared: isCompared ? tokens : 0,
    kl: isCompared ? kl * tokens : 0,
    clipped: isCompared ? clipped * tokens : 0,
  }
}

export function addTallies(a: Tally, b: Tally): Tally {
  return {
    traces: a.traces + b.traces,
    rewards: a.rewards + b.rewards,
    groups: a.groups + b.groups,
    spreads: a.spreads + b.spreads,
    datums: a.datums + b.datums,
    tokens: a.tokens + b.tokens,
    loss: a.loss + b.loss,
    compared: a.compared + b.compared,
    kl: a.kl + b.kl,
    clipped: a.clipped + b.clipped,
  }
}

/** Figures by the names of the training service: `:sum` adds up over calls, `:mean` is over tokens, runs or groups. */
export function toMetrics(tally: Tally): Record<string, number> {
  return {
    'loss:sum': tally.loss,
    'tokens:sum': tally.tokens,
    ...(tally.compared === 0
      ? {}
      : { 'kl:mean': tally.kl / tally.compared, 'clip_fraction:mean': tally.clipped / tally.compared }),
    'reward:mean': ratio(tally.rewards, tally.traces),
    'reward_std:mean': ratio(tally.spreads, tally.groups),
  }
}

function ratio(total: number, count: number): number {
  return count === 0 ? 0 : total / count
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
