import { gaussian } from '../emulator/latency.ts'
import { deriveSeed, makeRandom } from '../random.ts'
import type { Arrivals, Durations, JobShape } from './job.ts'

/** The 95 % quantile of the standard normal. */
export const Z95 = 1.6448536269514722

/** Standard deviation of the logarithm. */
export const sigmaOf = ({ p50Ms, p95Ms }: Extract<Durations, { type: 'lognormal' }>): number =>
  Math.log(p95Ms / p50Ms) / Z95

/**
 * How long each rollout of a step works, group after group and member after member. The same seed gives every plan the same ones, so that plans are compared on the
 * same rollouts.
 */
export function drawDurations({ durations, rollouts }: JobShape, seed: number, step: number): readonly number[] {
  const random = makeRandom(deriveSeed(seed, 'durations', step))
  if (durations.type === 'measured')
    return Array.from({ length: rollouts }, () => durations.ms[Math.floor(random() * durations.ms.length)] ?? 0)
  const sigma = sigmaOf(durations)
  return Array.from({ length: rollouts }, () => durations.p50Ms * Math.exp(sigma * gaussian(random)))
}

/** When each group of a step comes, in milliseconds after the step's begin, in ascending order. */
export function drawArrivals(arrivals: Arrivals, groups: number, group: number, seed: number, step: number): number[] {
  switch (arrivals.type) {
    case 'batch':
      return Array.from({ length: groups }, () => 0)
    case 'staggered':
      return Array.from({ length: groups }, (_, place) => (arrivals.overMs * place) / groups)
    case 'steady': {
      const random = makeRandom(deriveSeed(seed, 'arrivals', step))
      const meanMs = (1_000 * group) / arrivals.perSecond
      let at = 0
      return Array.from({ length: groups }, () => {
        at += -meanMs * Math.log(1 - random())
        return at
      })
    }
  }
}

/** How long a step of steady arrivals lasts on average, until the next one's first group may come. */
export const steadyStepMs = (perSecond: number, rollouts: number): number => (1_000 * rollouts) / perSecond
