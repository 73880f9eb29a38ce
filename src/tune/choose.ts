import type { Evaluated } from './evaluate.ts'
import { findKnee, toFront } from './front.ts'
import type { Objective } from './request.ts'

export interface Choice {
  readonly chosen: Evaluated
  /** Whether it keeps to the objective; the nearest to it where nothing does. */
  readonly isMet: boolean
}

/** The plan that keeps to the objective best; undefined of none. */
export function choose(all: readonly Evaluated[], objective: Objective): Choice | undefined {
  switch (objective.type) {
    case 'hit-rate': {
      const enough = all.filter(({ hitRate }) => hitRate.mean >= objective.atLeast)
      return pick(enough, byCost) ?? pick(all, (left, right) => right.hitRate.mean - left.hitRate.mean, false)
    }
    case 'step-latency': {
      const enough = all.filter(({ stepMs }) => stepMs.mean <= objective.atMostMs)
      return pick(enough, byCost) ?? pick(all, byLatency, false)
    }
    case 'budget': {
      const affordable = all.filter(({ cost }) => cost <= objective.perStep)
      return pick(affordable, byLatency) ?? pick(all, byCost, false)
    }
    case 'knee': {
      const front = toFront(all)
      const knee = findKnee(front) ?? front.at(-1)
      return knee === undefined ? undefined : { chosen: knee, isMet: true }
    }
  }
}

type Order = (left: Evaluated, right: Evaluated) => number

function pick(all: readonly Evaluated[], order: Order, isMet = true): Choice | undefined {
  const [chosen] = all.toSorted(order)
  return chosen === undefined ? undefined : { chosen, isMet }
}

const byCost: Order = (left, right) => left.cost - right.cost || left.stepMs.mean - right.stepMs.mean
const byLatency: Order = (left, right) => left.stepMs.mean - right.stepMs.mean || left.cost - right.cost
