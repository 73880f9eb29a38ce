import type { JobShape } from '../simulation/job.ts'
import type { LatencyModel } from '../simulation/latency-model.ts'
import { simulate } from '../simulation/simulate.ts'
import { type Candidate, holds, toPlan } from './candidates.ts'

/** How much longer than the slowest fill that was seen the pool is given. */
const MARGIN = 1.25
const SECOND_MS = 1_000

/**
 * How long before a step a shelf of this size has to begin to be filled: what the slowest of a few simulated fills took, and a quarter, in whole seconds. Never more than
 * the gap, before which the last step's rollouts are still running. Undefined where there is nothing to fill or no gap to fill it in.
 */
export function findLead(job: JobShape, candidate: Candidate, model: LatencyModel, seed: number): number | undefined {
  if (!holds(candidate.strategy) || candidate.size === 0 || !hasGap(job)) return undefined
  const steps = Math.min(job.steps, 3)
  const { fillsMs } = simulate({ ...job, steps }, toPlan({ ...candidate, leadMs: job.gapMs }), model, seed)
  const slowest = fillsMs.length === 0 ? job.gapMs : Math.max(...fillsMs)
  return Math.min(job.gapMs, Math.ceil((MARGIN * slowest) / SECOND_MS) * SECOND_MS)
}

/** Longer ones to try once the rest is settled. A shorter one could only be right by chance. */
export function otherLeads({ gapMs }: JobShape, leadMs: number): readonly number[] {
  const leads = [1.5, 2].map(share => Math.round((share * leadMs) / SECOND_MS) * SECOND_MS)
  return [...new Set([...leads, gapMs])].filter(each => each > 0 && each <= gapMs && each !== leadMs)
}

export const hasGap = ({ arrivals, steps, gapMs }: JobShape): boolean =>
  arrivals.type !== 'steady' && steps > 1 && gapMs > 0
