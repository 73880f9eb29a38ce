import { intersect, sumOf, unite } from './spans.ts'
import type { StepTimeline } from './timeline.ts'

/** The step's wall time by what was under way, in milliseconds: the four make it up. */
export interface Overlap {
  readonly rolloutsAloneMs: number
  readonly bothMs: number
  readonly trainingAloneMs: number
  readonly neitherMs: number
}

/** Training is calls and the optimiser step. */
export function findOverlap({ runs, calls, optimiser, durationMs }: StepTimeline): Overlap {
  const rollouts = unite(runs)
  const training = unite([...calls, ...(optimiser === undefined ? [] : [optimiser])])
  const bothMs = sumOf(intersect(rollouts, training))
  const [rolloutsMs, trainingMs] = [sumOf(rollouts), sumOf(training)]
  return {
    rolloutsAloneMs: rolloutsMs - bothMs,
    bothMs,
    trainingAloneMs: trainingMs - bothMs,
    neitherMs: durationMs - rolloutsMs - trainingMs + bothMs,
  }
}
