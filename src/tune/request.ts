import type { JobShape } from '../simulation/job.ts'
import type { LatencyModel } from '../simulation/latency-model.ts'

/** Where sandboxes come from, and whether they are held ready by the engine. */
export const STRATEGIES = ['cold', 'fork', 'provider-pool', 'prewarm', 'prewarm+fork'] as const
export type Strategy = (typeof STRATEGIES)[number]

/**
 * What the plan is to be good for. `hit-rate`: that share of the leases finds a sandbox ready, for the least cost. `step-latency`: a step takes no longer, for the
 * least cost. `budget`: the quickest step that costs no more. `knee`: where more idle time stops buying much.
 */
export type Objective =
  | { readonly type: 'hit-rate'; readonly atLeast: number }
  | { readonly type: 'step-latency'; readonly atMostMs: number }
  | { readonly type: 'budget'; readonly perStep: number }
  | { readonly type: 'knee' }

/** In whatever money. Without any, plans cost their idle sandbox-seconds. */
export interface Price {
  readonly perSandboxSecond: number
  readonly perCreate: number
}

export interface TuneRequest {
  readonly job: JobShape
  readonly model: LatencyModel
  readonly objective: Objective
  readonly strategies: readonly Strategy[]
  readonly price: Price
  readonly seed: number
  /** Simulations of each finalist, from which the intervals come. */
  readonly repetitions: number
}
