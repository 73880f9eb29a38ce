import { drawDurations } from '../simulation/draws.ts'
import type { JobShape } from '../simulation/job.ts'
import type { LatencyModel } from '../simulation/latency-model.ts'
import { mean } from '../simulation/quantile.ts'
import { replayLevel } from '../simulation/replay.ts'

/**
 * The share of arrivals that an Erlang loss system of `servers` turns away at an offered load of `load` (arrivals a holding time): `B(0) = 1`,
 * `B(n) = load B(n-1) / (n + load B(n-1))`, which is A. K. Erlang's formula of 1917 in the recurrence by which it is usually computed. It depends on the mean of the
 * holding time alone (Sevastyanov, 1957).
 */
export function erlangLoss(servers: number, load: number): number {
  let blocked = 1
  for (let n = 1; n <= servers; n += 1) blocked = (load * blocked) / (n + load * blocked)
  return blocked
}

/** The share of Poisson arrivals that find fewer than `count` others within a holding time: `P(N < count)`, with N Poisson of mean `load` (Palm's theorem, 1938). */
export function poissonBelow(count: number, load: number): number {
  let term = Math.exp(-load)
  let sum = 0
  for (let n = 0; n < count; n += 1) {
    sum += term
    term *= load / (n + 1)
  }
  return Math.min(1, sum)
}

/** What theory says of a pool of `size`, beside what the simulation says. */
export type Analytic =
  | {
      readonly type: 'batch'
      /** Until a shelf of this size is full. */
      readonly refillMs: number
      readonly isRefilled: boolean
      readonly hitRate: number
      readonly stepMs: number
    }
  | {
      readonly type: 'base-stock'
      /** From one request until its replacement is ready. */
      readonly refillMs: number
      /** Requests in one refill time. */
      readonly load: number
      /** Where a request that misses is served from elsewhere: one less the Erlang loss. */
      readonly hitRateLost: number
      /** Where it waits for the next replacement, as in this pool. */
      readonly hitRateWaiting: number
      /** The least size that keeps to `hitRate` by the latter. */
      readonly sizeFor: (hitRate: number) => number
    }

const SEED = 1

/**
 * The pool as an inventory under the (S-1, S) base-stock rule, each request ordering its own replacement (Feeney and Sherbrooke, 1966). Groups ask for all members
 * at once, so that the customer is a group and the shelf holds so many of those. Where whole steps come at once, the shelf serves what is on it when they come.
 */
export function solve(job: JobShape, model: LatencyModel, size: number, leadMs: number): Analytic {
  const { arrivals, group } = job
  if (arrivals.type === 'batch') return solveBatch(job, model, size, leadMs)
  const perMs = arrivals.type === 'steady' ? arrivals.perSecond / 1_000 : job.rollouts / Math.max(1, arrivals.overMs)
  const refillMs = replayLevel(model, 'cold', group, SEED).p50Ms
  const load = (perMs * refillMs) / group
  const shelf = Math.floor(size / group)
  return {
    type: 'base-stock',
    refillMs,
    load: load * group,
    hitRateLost: 1 - erlangLoss(shelf, load),
    hitRateWaiting: poissonBelow(shelf, load),
    sizeFor(hitRate) {
      let groups = 0
      while (poissonBelow(groups, load) < hitRate) groups += 1
      return groups * group
    },
  }
}

function solveBatch(job: JobShape, model: LatencyModel, size: number, leadMs: number): Analytic {
  const batch = Math.min(job.rollouts, job.maxConcurrent)
  const held = Math.min(size, batch)
  const refillMs = held === 0 ? 0 : replayLevel(model, 'cold', held, SEED).p95Ms
  const isRefilled = held > 0 && leadMs >= refillMs
  const hitRate = isRefilled ? held / job.rollouts : 0
  const missing = batch - (isRefilled ? held : 0)
  const waitMs = missing === 0 ? 0 : replayLevel(model, 'cold', missing, SEED).p50Ms
  return { type: 'batch', refillMs, isRefilled, hitRate, stepMs: toStepMs(job, missing, waitMs) }
}

/** Rollouts drawn in all: a few hundred steps of an ordinary job. */
const DRAWN = 25_600

/**
 * The longest of a whole step, where `missing` of its rollouts wait first, by draws from the distribution alone. Where not all run at once, it takes no less than what
 * all need together.
 */
function toStepMs(job: JobShape, missing: number, waitMs: number): number {
  const draws = Math.max(3, Math.ceil(DRAWN / job.rollouts))
  return mean(
    Array.from({ length: draws }, (_, draw) => {
      const durations = drawDurations(job, SEED, draw)
      const longest = durations.reduce((most, ms, place) => Math.max(most, ms + (place < missing ? waitMs : 0)), 0)
      return Math.max(longest, durations.reduce((sum, ms) => sum + ms, 0) / job.maxConcurrent)
    }),
  )
}
