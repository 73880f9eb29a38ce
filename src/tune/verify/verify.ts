import type { JobShape } from '../../simulation/job.ts'
import { PUBLISHED_MODEL } from '../../simulation/latency-model.ts'
import { mean } from '../../simulation/quantile.ts'
import { simulate } from '../../simulation/simulate.ts'
import { type Candidate, toPlan } from '../candidates.ts'
import { runEmulatedJob } from './emulated-job.ts'
import { measureHostMs } from './host-cost.ts'

/** One figure, as it was predicted and as it was measured. */
export interface Compared {
  readonly predicted: number
  readonly measured: number
  /** Measured over predicted. */
  readonly ratio: number
}

export interface Verified {
  readonly candidate: Candidate
  /** Mean over all steps, the first too. Milliseconds of the emulator's time. */
  readonly stepMs: Compared
  /** Of one step. */
  readonly idleSeconds: Compared
  readonly hitRate: Compared
}

export interface Verification {
  /** What this machine works on each sandbox: real milliseconds, one sandbox after the other. */
  readonly hostMs: number
  readonly speed: number
  readonly steps: number
  readonly plans: readonly Verified[]
}

export interface VerifyOptions {
  readonly speed: number
  readonly seed: number
  /** Of the job at most. */
  readonly steps: number
  readonly signal?: AbortSignal
  /** Told of each plan as it begins. */
  readonly onPlan?: (candidate: Candidate) => void
}

/**
 * Runs plans with the real engine against an emulator in this process, and in the simulation with the emulator's own figures and the same rollouts. Time that passes
 * `speed` times as fast makes this machine so many times slower beside it: what it works on a sandbox is measured first, and is part of the prediction.
 */
export async function verify(
  job: JobShape,
  candidates: readonly Candidate[],
  { speed, seed, steps, signal, onPlan }: VerifyOptions,
): Promise<Verification> {
  const short = { ...job, steps: Math.min(job.steps, steps) }
  const plans: Verified[] = []
  const hostMs = await measureHostMs(signal)
  const model = { ...PUBLISHED_MODEL, hostMs: hostMs * speed }
  for (const candidate of candidates) {
    onPlan?.(candidate)
    const plan = toPlan(candidate)
    const measured = await runEmulatedJob(short, plan, { seed, speed, ...(signal === undefined ? {} : { signal }) })
    const predicted = simulate(short, plan, model, seed)
    const leases = predicted.steps.reduce((sum, { waitsMs }) => sum + waitsMs.length, 0)
    const hits = predicted.steps.reduce((sum, step) => sum + step.leases.hit, 0)
    plans.push({
      candidate,
      stepMs: compare(mean(predicted.steps.map(({ latencyMs }) => latencyMs)), mean(measured.stepsMs)),
      idleSeconds: compare(predicted.seconds.idle / short.steps, measured.idleSeconds / short.steps),
      hitRate: compare(hits / leases, measured.hitRate),
    })
  }
  return { hostMs, speed, steps: short.steps, plans }
}

const compare = (predicted: number, measured: number): Compared => ({
  predicted,
  measured,
  ratio: predicted === measured ? 1 : measured / predicted,
})
