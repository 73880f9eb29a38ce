import { type Analytic, solve } from './analytic.ts'
import { holds } from './candidates.ts'
import { choose } from './choose.ts'
import { nothingToTune } from './errors.ts'
import { COLD, type Evaluated, makeEvaluator } from './evaluate.ts'
import { findKnee, toFront } from './front.ts'
import type { TuneRequest } from './request.ts'
import { searchAround, searchStrategy } from './search.ts'
import { measureSensitivity, type Sensitivity } from './sensitivity.ts'

/** What came of a search. */
export interface TuneResult {
  readonly request: TuneRequest
  readonly chosen: Evaluated
  /** Whether it keeps to the objective; what comes nearest where nothing does. */
  readonly isMet: boolean
  /** Each sandbox made when it is asked for: what the others are compared with. */
  readonly cold: Evaluated
  /** Everything that was looked at. */
  readonly evaluated: readonly Evaluated[]
  /** Those that no other beats in both idle time and step latency. */
  readonly front: readonly Evaluated[]
  /** Where the front bends most; undefined where it is straight. */
  readonly knee: Evaluated | undefined
  /** Of the chosen size. */
  readonly analytic: Analytic
  readonly sensitivity: readonly Sensitivity[]
  readonly work: { readonly simulations: number; readonly sandboxes: number }
}

/** Lead or wave are only changed for what can be told from noise. */
const WORTH = 0.005
/** Simulated rollouts of one simulation, about: longer jobs are cut after some steps. */
const ROLLOUTS = 2_000
const LEAST_STEPS = 3

/**
 * Looks for the plan that suits the objective, by simulation of the pool's own code: each strategy's sizes by a grid refined around the best, then lead and wave around
 * the winner. The same request gives the same result. Throws `nothing-to-tune`, or `bad-option` for a job that no engine would take.
 */
export function tune(request: TuneRequest): TuneResult {
  const { job, objective, strategies } = request
  if (strategies.length === 0 || job.steps < 1 || job.rollouts < 1) throw nothingToTune()
  const searched = {
    ...request,
    job: { ...job, steps: Math.min(job.steps, Math.max(LEAST_STEPS, Math.floor(ROLLOUTS / job.rollouts))) },
  }
  const evaluator = makeEvaluator(searched)
  const cold = evaluator.evaluate(COLD, request.repetitions)
  const others = strategies.filter(strategy => strategy !== 'cold')
  const grid = [
    ...(others.length < strategies.length ? [cold] : []),
    ...others.flatMap(strategy => searchStrategy(strategy, searched, evaluator)),
  ]
  const first = choose(grid, objective)
  if (first === undefined) throw nothingToTune()
  const around = searchAround(first.chosen, searched, evaluator)
  const worthy = around.filter(each => isWorth(each, first.chosen))
  // A knee is one of a whole front.
  const better = choose(objective.type === 'knee' ? [...grid, ...worthy] : [first.chosen, ...worthy], objective)
  const { chosen, isMet } = better ?? first
  const evaluated = [cold, ...grid.filter(each => each !== cold), ...around]
  const front = toFront(evaluated)
  const { size, leadMs = 0, strategy } = chosen.candidate
  return {
    request,
    chosen,
    isMet,
    cold,
    evaluated,
    front,
    knee: findKnee(front),
    analytic: solve(job, request.model, holds(strategy) ? size : 0, leadMs),
    sensitivity: measureSensitivity(chosen.candidate, searched),
    work: evaluator.work,
  }
}

function isWorth(each: Evaluated, chosen: Evaluated): boolean {
  return (
    each.cost < chosen.cost * (1 - WORTH) ||
    each.stepMs.mean < chosen.stepMs.mean * (1 - WORTH) ||
    each.hitRate.mean > chosen.hitRate.mean + WORTH
  )
}
