import type { PoolOptions } from '../job/options.ts'
import type { JobShape, PoolPlan } from '../simulation/job.ts'
import type { Strategy } from './request.ts'

/** One way to keep sandboxes for a job. */
export interface Candidate {
  readonly strategy: Strategy
  /** Held ready, or by the provider; 0 where nothing is. */
  readonly size: number
  /** Kept to be forked. */
  readonly parents: number
  readonly leadMs: number | undefined
  /** Creates in flight at most; undefined: the engine's default. */
  readonly wave: number | undefined
}

export const holds = (strategy: Strategy): boolean => strategy === 'prewarm' || strategy === 'prewarm+fork'
export const forks = (strategy: Strategy): boolean => strategy === 'fork' || strategy === 'prewarm+fork'

export function toPlan({ strategy, size, parents, leadMs, wave }: Candidate): PoolPlan {
  const source: PoolOptions['source'] = forks(strategy)
    ? { type: 'fork', parents }
    : strategy === 'provider-pool'
      ? { type: 'provider-pool', size }
      : { type: 'create' }
  const held = holds(strategy) && size > 0
  return {
    pool: {
      strategy: held ? 'prewarm' : 'cold',
      size: held ? size : 0,
      source,
      ...(wave === undefined ? {} : { wave }),
    },
    ...(leadMs === undefined ? {} : { leadMs }),
  }
}

/** What `--pool` is to say for it. */
export function toPoolArgument({ strategy, size, parents, wave }: Candidate): string {
  const parts = [
    ...(holds(strategy) && size > 0 ? [String(size)] : []),
    ...(forks(strategy) ? [`fork:${parents}`] : []),
    ...(strategy === 'provider-pool' ? [`provider-pool:${size}`] : []),
  ]
  return [...(parts.length === 0 ? ['cold'] : parts), ...(wave === undefined ? [] : [`wave:${wave}`])].join('+')
}

/** The same for people, with the time that it is filled ahead. */
export function toName(candidate: Candidate): string {
  const { leadMs } = candidate
  return `${toPoolArgument(candidate)}${leadMs === undefined ? '' : `, ${Math.round(leadMs / 1_000)} s ahead`}`
}

/** As many as may be asked for at one moment: more than these are never of use together. */
export function mostAtOnce({ rollouts, maxConcurrent }: JobShape): number {
  return Math.min(rollouts, maxConcurrent)
}

const SHARES = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1]

/** Sizes to look at first: whole groups, from one of them to as many as may be asked for at once. */
export function firstSizes(job: JobShape): readonly number[] {
  const most = mostAtOnce(job)
  const sizes = SHARES.map(share => Math.min(most, Math.max(job.group, toGroups(job, share * most))))
  return [...new Set([Math.min(most, job.group), ...sizes])]
}

/** Sizes that lie between two that were looked at, whole groups: none where they are neighbours. */
export function sizesBetween(job: JobShape, low: number, high: number): readonly number[] {
  const middle = toGroups(job, (low + high) / 2)
  return middle > low && middle < high ? [middle] : []
}

const toGroups = ({ group }: JobShape, size: number): number => Math.round(size / group) * group
