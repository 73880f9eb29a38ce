import type { Clock } from '../../clock.ts'
import type { TrainingEvent } from '../../training/loop/events.ts'
import { isEvaluationDue } from '../../training/loop/schedule.ts'
import type { TrainPlan } from './train-view.ts'

/** How long the rest of a training takes, from the steps and evaluations that are over. */
export interface TrainTimes {
  receive(event: TrainingEvent): void
  /** Null until a step is over. */
  leftMs(): number | null
}

/** Later steps may be quicker or slower than the first: the last few say how long the next ones take. */
const REMEMBERED = 5

/** Of a training that begins, or goes on, now. */
export function makeTrainTimes(plan: TrainPlan, clock: Clock): TrainTimes {
  const stepsMs: number[] = []
  const splitsMs = new Map<string, number>()
  const beganAt = new Map<number, number>()
  let ended = 0
  let measuredNow = new Set<string>()
  /** When what is under way began: with a policy lag a step begins, as far as time is concerned, when the one before is over. */
  let since = clock.now()

  function isDueAfter(steps: number): boolean {
    return isEvaluationDue({ first: true, last: true, every: plan.every, steps: plan.steps }, steps)
  }

  function evaluationsLeftMs(): number {
    let left = 0
    for (let after = ended; after <= plan.steps; after += 1)
      if (isDueAfter(after))
        for (const split of plan.splits) if (after > ended || !measuredNow.has(split)) left += splitsMs.get(split) ?? 0
    return left
  }

  return {
    receive(event) {
      switch (event.type) {
        case 'resumed':
          for (const { wallMs, step } of event.history.steps) {
            stepsMs.push(wallMs)
            ended = Math.max(ended, step + 1)
          }
          for (const { split, wallMs, afterSteps } of event.history.evaluations) {
            splitsMs.set(split, wallMs)
            if (afterSteps === ended) measuredNow.add(split)
          }
          since = clock.now()
          return
        case 'step-began':
          beganAt.set(event.step, clock.now())
          return
        case 'step-ended': {
          const { step } = event.record
          stepsMs.push(clock.now() - Math.max(beganAt.get(step) ?? since, since))
          ended = step + 1
          measuredNow = new Set()
          since = clock.now()
          return
        }
        case 'evaluated':
          splitsMs.set(event.record.split, event.record.wallMs)
          measuredNow.add(event.record.split)
          since = clock.now()
          return
        default:
          return
      }
    },
    leftMs() {
      const recent = stepsMs.slice(-REMEMBERED)
      if (recent.length === 0) return null
      const stepMs = recent.reduce((sum, ms) => sum + ms, 0) / recent.length
      const whole = (plan.steps - ended) * stepMs + evaluationsLeftMs()
      // What is under way takes no less than nothing: one that is late moves the end.
      const underWay = nextMs(stepMs)
      return whole - Math.min(clock.now() - since, underWay)
    },
  }

  function nextMs(stepMs: number): number {
    const split = isDueAfter(ended) ? plan.splits.find(each => !measuredNow.has(each)) : undefined
    if (split !== undefined) return splitsMs.get(split) ?? 0
    return ended < plan.steps ? stepMs : 0
  }
}
