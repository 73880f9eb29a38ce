import type { SandboxOrigin } from '../runtimes/runtime.ts'
import type { JobShape, PoolPlan } from './job.ts'
import type { LatencyModel } from './latency-model.ts'
import { ascending, quantile } from './quantile.ts'
import { simulate } from './simulate.ts'

const PARENTS = 4
/** Long enough for whatever is to be there beforehand. */
const GAP_MS = 10 * 60_000

/** A level of a ladder in the simulation: `width` sandboxes asked for at once, all from where `origin` says. Milliseconds until they were ready. */
export function replayLevel(
  model: LatencyModel,
  origin: SandboxOrigin,
  width: number,
  seed: number,
): { readonly p50Ms: number; readonly p95Ms: number } {
  const job: JobShape = {
    rollouts: width,
    group: 1,
    // What is claimed or forked from comes to be in the first.
    steps: origin === 'cold' ? 1 : 2,
    maxConcurrent: width,
    arrivals: { type: 'batch' },
    durations: { type: 'measured', ms: [GAP_MS] },
    gapMs: GAP_MS,
  }
  const waits = ascending(simulate(job, toPlan(origin, width), model, seed).steps.at(-1)?.waitsMs ?? [])
  return { p50Ms: quantile(waits, 0.5), p95Ms: quantile(waits, 0.95) }
}

function toPlan(origin: SandboxOrigin, width: number): PoolPlan {
  const cold = { strategy: 'cold', size: 0, wave: width + PARENTS } as const
  if (origin === 'cold') return { pool: cold }
  if (origin === 'claim') return { pool: { ...cold, source: { type: 'provider-pool', size: width } } }
  return { pool: { ...cold, source: { type: 'fork', parents: PARENTS } } }
}
