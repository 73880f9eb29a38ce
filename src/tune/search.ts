import type { JobShape } from '../simulation/job.ts'
import type { LatencyModel } from '../simulation/latency-model.ts'
import { type Candidate, firstSizes, forks, holds, mostAtOnce, sizesBetween } from './candidates.ts'
import { choose } from './choose.ts'
import { COLD, type Evaluated, type Evaluator } from './evaluate.ts'
import { findLead, hasGap, otherLeads } from './leads.ts'
import type { Strategy, TuneRequest } from './request.ts'

/** Rounds in which sizes are added beside the best of the last. */
const ROUNDS = 4
const PARENTS = [2, 4, 8, 16]
/** Kept beside a shelf, which bears forks itself. */
const SHELF_PARENTS = 4
const WAVES = [64, 128, 512]

/** All plans that were looked at for one strategy: a coarse grid first, then closer and closer around what suits the objective. */
export function searchStrategy(strategy: Strategy, request: TuneRequest, evaluator: Evaluator): readonly Evaluated[] {
  const { job, model, objective, repetitions, seed } = request
  const evaluate = (candidate: Candidate) => evaluator.evaluate(candidate, repetitions)
  if (strategy === 'cold') return [evaluate(COLD)]
  if (strategy === 'fork')
    return PARENTS.filter(parents => parents < mostAtOnce(job)).map(parents => evaluate({ ...COLD, strategy, parents }))
  const sized = (size: number) => evaluate(withLead(job, { ...toSized(strategy, job), size }, model, seed))
  let all = firstSizes(job).map(sized)
  for (let round = 0; round < ROUNDS; round += 1) {
    const best = choose(all, objective)
    const sizes = all.map(({ candidate }) => candidate.size).toSorted((left, right) => left - right)
    const place = sizes.indexOf(best?.chosen.candidate.size ?? 0)
    const [below = 0, at = 0, above = at] = [sizes[place - 1], sizes[place], sizes[place + 1]]
    const more = [...sizesBetween(job, below, at), ...sizesBetween(job, at, above)]
    if (more.length === 0) break
    all = [...all, ...more.map(sized)]
  }
  return all
}

/** What can be changed about a plan beside its size: how early it is filled, and how many creates are in flight. */
export function searchAround(
  { candidate }: Evaluated,
  request: TuneRequest,
  evaluator: Evaluator,
): readonly Evaluated[] {
  const { job, repetitions } = request
  const leads = candidate.leadMs === undefined ? [] : otherLeads(job, candidate.leadMs)
  const waves = WAVES.filter(wave => wave < mostAtOnce(job) || (wave === 512 && mostAtOnce(job) > 256))
  return [
    ...leads.map(leadMs => ({ ...candidate, leadMs })),
    ...(candidate.strategy === 'provider-pool' ? [] : waves.map(wave => ({ ...candidate, wave }))),
  ].map(each => evaluator.evaluate(each, repetitions))
}

function toSized(strategy: Strategy, job: JobShape): Candidate {
  return { ...COLD, strategy, parents: forks(strategy) ? Math.min(SHELF_PARENTS, mostAtOnce(job)) : 0 }
}

function withLead(job: JobShape, candidate: Candidate, model: LatencyModel, seed: number): Candidate {
  if (!holds(candidate.strategy) || !hasGap(job)) return candidate
  return { ...candidate, leadMs: findLead(job, candidate, model, seed) }
}
