import { mixSeed } from '../random.ts'
import type { JobShape } from '../simulation/job.ts'
import type { LatencyModel } from '../simulation/latency-model.ts'
import { type Figures, toFigures } from '../simulation/outcome.ts'
import { mean } from '../simulation/quantile.ts'
import { simulate } from '../simulation/simulate.ts'
import { type Candidate, toPlan } from './candidates.ts'
import type { Price } from './request.ts'

/** A mean over repetitions with the 95 % interval of Student's t; both ends are the mean where there is one repetition. */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** A candidate and how it fared: means over repetitions, of one step. */
export interface Evaluated {
  readonly candidate: Candidate
  readonly stepMs: Estimate
  /** By how much a step is quicker than cold, on the same rollouts: the interval is that of the differences. */
  readonly savedMs: Estimate
  readonly hitRate: Estimate
  readonly idleSeconds: Estimate
  readonly claimRate: number
  readonly usedSeconds: number
  readonly waitMs: Figures['waitMs']
  readonly creates: number
  readonly peak: number
  readonly refused: number
  /** In money where there is a price, else in idle sandbox-seconds. */
  readonly cost: number
}

/** Runs candidates in the simulation, each no more than once for a seed. */
export interface Evaluator {
  evaluate(candidate: Candidate, repetitions: number): Evaluated
  /** Simulations and simulated sandboxes so far. */
  readonly work: { readonly simulations: number; readonly sandboxes: number }
}

/** Each sandbox made when it is asked for: what every plan is compared with. */
export const COLD: Candidate = { strategy: 'cold', size: 0, parents: 0, leadMs: undefined, wave: undefined }

export interface EvaluatorOptions {
  readonly job: JobShape
  readonly model: LatencyModel
  readonly price: Price
  readonly seed: number
}

export function makeEvaluator({ job, model, price, seed }: EvaluatorOptions): Evaluator {
  const known = new Map<string, Figures>()
  let sandboxes = 0

  function run(candidate: Candidate, repetition: number): Figures {
    const key = JSON.stringify([candidate, repetition])
    const earlier = known.get(key)
    if (earlier !== undefined) return earlier
    // The same seed for every candidate: they are compared on the same rollouts.
    const outcome = simulate(job, toPlan(candidate), model, mixSeed(seed, repetition))
    sandboxes += outcome.created
    const figures = toFigures(outcome)
    known.set(key, figures)
    return figures
  }

  return {
    get work() {
      return { simulations: known.size, sandboxes }
    },
    evaluate(candidate, repetitions) {
      const all = Array.from({ length: repetitions }, (_, repetition) => run(candidate, repetition))
      const saved = all.map(({ stepMs }, repetition) => run(COLD, repetition).stepMs - stepMs)
      const each = (value: (figures: Figures) => number) => all.map(value)
      const wait = (value: (wait: Figures['waitMs']) => number) => mean(all.map(({ waitMs }) => value(waitMs)))
      const idleSeconds = toEstimate(each(figures => figures.idleSeconds))
      const usedSeconds = mean(each(figures => figures.usedSeconds))
      const creates = mean(each(figures => figures.creates))
      return {
        candidate,
        stepMs: toEstimate(each(figures => figures.stepMs)),
        savedMs: toEstimate(saved),
        hitRate: toEstimate(each(figures => figures.hitRate)),
        idleSeconds,
        claimRate: mean(each(figures => figures.claimRate)),
        usedSeconds,
        waitMs: {
          mean: wait(each => each.mean),
          p50: wait(each => each.p50),
          p95: wait(each => each.p95),
          max: wait(each => each.max),
        },
        creates,
        peak: Math.max(...each(figures => figures.peak)),
        refused: mean(each(figures => figures.refused)),
        cost: toCost(price, idleSeconds.mean, usedSeconds, creates),
      }
    },
  }
}

export const hasPrice = ({ perSandboxSecond, perCreate }: Price): boolean => perSandboxSecond > 0 || perCreate > 0

function toCost(price: Price, idle: number, used: number, creates: number): number {
  return hasPrice(price) ? price.perSandboxSecond * (idle + used) + price.perCreate * creates : idle
}

/** Two-sided 95 % quantiles of Student's t, by degrees of freedom from 1; the normal's beyond. */
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]

export function toEstimate(values: readonly number[]): Estimate {
  const middle = mean(values)
  if (values.length < 2) return { mean: middle, low: middle, high: middle }
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
  const half = (T95[values.length - 2] ?? 1.96) * Math.sqrt(variance / values.length)
  return { mean: middle, low: middle - half, high: middle + half }
}
