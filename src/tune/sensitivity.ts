import type { Durations, JobShape } from '../simulation/job.ts'
import { type LatencyModel, scaleModel } from '../simulation/latency-model.ts'
import type { Candidate } from './candidates.ts'
import { type Evaluated, makeEvaluator } from './evaluate.ts'
import type { TuneRequest } from './request.ts'

/** The chosen plan, in a job or with a provider that is not as was thought. */
export interface Sensitivity {
  readonly what: string
  readonly evaluated: Evaluated
}

/** Rollouts and creates a quarter shorter and longer, gaps half as long and half as long again. */
export function measureSensitivity(candidate: Candidate, request: TuneRequest): readonly Sensitivity[] {
  const { job, model, price, seed, repetitions } = request
  const run = (what: string, changed: { readonly job?: JobShape; readonly model?: LatencyModel }): Sensitivity => {
    const evaluator = makeEvaluator({ job, model, price, seed, ...changed })
    return { what, evaluated: evaluator.evaluate(candidate, repetitions) }
  }
  const hasGaps = job.arrivals.type !== 'steady' && job.steps > 1
  return [
    ...[0.75, 1.25].map(factor =>
      run(`rollouts ${toText(factor)}`, { job: { ...job, durations: scale(job.durations, factor) } }),
    ),
    ...[0.75, 1.25].map(factor => run(`creates ${toText(factor)}`, { model: scaleModel(model, factor) })),
    ...(hasGaps ? [0.5, 1.5] : []).map(factor =>
      run(`gaps ${toText(factor)}`, { job: { ...job, gapMs: job.gapMs * factor } }),
    ),
  ]
}

function scale(durations: Durations, factor: number): Durations {
  if (durations.type === 'measured') return { ...durations, ms: durations.ms.map(ms => ms * factor) }
  return { ...durations, p50Ms: durations.p50Ms * factor, p95Ms: durations.p95Ms * factor }
}

const toText = (factor: number): string => `${factor < 1 ? '−' : '+'}${Math.round(Math.abs(factor - 1) * 100)} %`
