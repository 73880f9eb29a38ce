import type { JobRecord } from '../journal/journal.ts'
import { evaluationKey } from '../training/loop/marks.ts'
import { evaluationStep, isEvaluationStep } from '../training/loop/schedule.ts'

/** What a step of a job is called, and the record without which it is not over. */
export interface StepName {
  /** As it is asked for: `3`, or `held-out@10`. */
  readonly name: string
  /** As it is told: `step 3`, or `held-out after 10 steps`. */
  readonly label: string
  readonly kind: 'rollouts' | 'training' | 'evaluation'
  /** Of an evaluation whose split is known. */
  readonly recordKey?: string
}

/** Steps count from 1, as the training tells them. */
export function nameStep(step: number, job: Pick<JobRecord, 'settings'>, isTraining: boolean): StepName {
  if (!isEvaluationStep(step))
    return { name: String(step + 1), label: `step ${step + 1}`, kind: isTraining ? 'training' : 'rollouts' }
  const place = step - evaluationStep(0, 0, 1)
  const splits = readSplits(job.settings)
  const afterSteps = Math.floor(place / splits.length)
  const split = splits[place % splits.length]
  // A job of one's own that names its splits nowhere: the number still tells its evaluations apart.
  if (split === undefined) return { name: `evaluation@${place}`, label: `evaluation ${place}`, kind: 'evaluation' }
  return {
    name: `${split}@${afterSteps}`,
    label: `${split} after ${afterSteps} ${afterSteps === 1 ? 'step' : 'steps'}`,
    kind: 'evaluation',
    recordKey: evaluationKey(afterSteps, split),
  }
}

/** In the order in which the training numbers them: `settings.evaluation.splits`, pairs of a name and its tasks. */
function readSplits({ evaluation }: Readonly<Record<string, unknown>>): readonly string[] {
  if (typeof evaluation !== 'object' || evaluation === null || !('splits' in evaluation)) return []
  const { splits } = evaluation
  if (!Array.isArray(splits)) return []
  return splits.flatMap((split: unknown) => (Array.isArray(split) && typeof split[0] === 'string' ? [split[0]] : []))
}

/** How a training packs its groups, as its settings say: in planned order unless they say otherwise. */
export function readOrder({ settings }: Pick<JobRecord, 'settings'>): 'planned' | 'completion' {
  const { shape } = settings
  const order = typeof shape === 'object' && shape !== null && 'order' in shape ? shape.order : undefined
  return order === 'completion' ? 'completion' : 'planned'
}
