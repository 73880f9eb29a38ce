import type { PoolOptions } from '../job/options.ts'

/** How long one rollout works once it has its sandbox, in milliseconds: a lognormal distribution, or measured ones to draw from. */
export type Durations =
  | { readonly type: 'lognormal'; readonly p50Ms: number; readonly p95Ms: number }
  | { readonly type: 'measured'; readonly ms: readonly number[] }

/**
 * When the rollouts of a step ask for sandboxes. `batch`: all groups at once. `staggered`: one group after the other, over `overMs`. Both are followed by the
 * gap, in which no rollout runs. `steady`: groups come by chance at that rate, without end and without gaps; a step is then as many of them as belong together.
 */
export type Arrivals =
  | { readonly type: 'batch' }
  | { readonly type: 'staggered'; readonly overMs: number }
  | { readonly type: 'steady'; readonly perSecond: number }

/** What is to be run: steps of rollouts in groups, as a training makes them. */
export interface JobShape {
  /** In one step: whole groups. */
  readonly rollouts: number
  readonly group: number
  readonly steps: number
  readonly maxConcurrent: number
  readonly arrivals: Arrivals
  readonly durations: Durations
  /** From the end of a step's last rollout to the next step's begin. Not used where arrivals are steady. */
  readonly gapMs: number
}

/** How sandboxes are kept for it. */
export interface PoolPlan {
  readonly pool: PoolOptions
  /**
   * How long before a step begins the pool is told of its rollouts, so that it may make sandboxes ready for them; never before the step before is over. Absent:
   * when it begins.
   */
  readonly leadMs?: number
}

/** The published training: 16 groups of 8 at once, about 133 s of rollouts and 94 s of training a step. */
export const PUBLISHED_JOB: JobShape = {
  rollouts: 128,
  group: 8,
  steps: 10,
  maxConcurrent: 128,
  arrivals: { type: 'batch' },
  durations: { type: 'lognormal', p50Ms: 50_000, p95Ms: 90_000 },
  gapMs: 94_000,
}
