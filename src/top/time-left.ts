import type { FeedState } from '../feed/messages.ts'

/** Of the planned runs, before which no rate is told. */
const EARLY_SHARE = 0.05
const REMEMBERED = 5

/** How many steps the training has; null for what is none. */
export function stepsPlanned({ job: { settings } }: FeedState): number | null {
  const { shape } = settings
  const steps = typeof shape === 'object' && shape !== null && 'steps' in shape ? shape.steps : undefined
  return typeof steps === 'number' ? steps : null
}

/** Of a training from the steps that are over, of other jobs from the runs that are; null as long as nobody can tell. */
export function leftMs(state: FeedState): number | null {
  const { job, now } = state
  if (job.source === 'over') return null
  const steps = stepsPlanned(state)
  if (steps !== null) return leftOfSteps(state, steps)
  if (now.snapshot === null) return null
  const { finishedRuns, plannedRuns } = now.snapshot
  const left = plannedRuns - finishedRuns
  if (left <= 0 || now.rate <= 0 || finishedRuns < plannedRuns * EARLY_SHARE) return null
  return (left * 1_000) / now.rate
}

function leftOfSteps({ training: { steps, evaluations }, at }: FeedState, planned: number): number | null {
  const recent = steps.slice(-REMEMBERED)
  const last = recent.at(-1)
  if (last === undefined) return null
  const stepMs = recent.reduce((sum, { wallMs }) => sum + wallMs, 0) / recent.length
  const stepsLeft = planned - (last.step + 1)
  // Each split was measured before the first step, and is once more behind the last.
  const splits = [...new Set(evaluations.map(({ split }) => split))]
  const evaluationsMs = splits
    .filter(split => !evaluations.some(each => each.split === split && each.afterSteps === planned))
    .reduce((sum, split) => sum + (evaluations.findLast(each => each.split === split)?.wallMs ?? 0), 0)
  const sinceMs = last.startedAt === undefined ? 0 : Math.max(0, at - (last.startedAt + last.wallMs))
  const underWayMs = Math.min(sinceMs, stepsLeft > 0 ? stepMs : evaluationsMs)
  return Math.max(0, stepsLeft * stepMs + evaluationsMs - underWayMs)
}
