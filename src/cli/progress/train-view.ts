import type { Clock } from '../../clock.ts'
import type { Job } from '../../job/job.ts'
import type { JobSnapshot } from '../../job/snapshot.ts'
import { decimal, percent } from '../../report/units.ts'
import type { TrainingEvent } from '../../training/loop/events.ts'
import { isEvaluationDue } from '../../training/loop/schedule.ts'
import { paceOfRuns, toJobView, type Watch } from './job-view.ts'
import { tallyRuns } from './tally.ts'
import { makeTrainTimes } from './train-times.ts'

/** What a training is going to do, as far as its progress is concerned. */
export interface TrainPlan {
  readonly steps: number
  /** The names of what is measured without being trained on; none where nothing is. */
  readonly splits: readonly string[]
  /** Between the steps, too, after each so many; 0 for only before and after all. */
  readonly every: number
}

type Stage =
  | { readonly type: 'evaluation'; readonly split: string; readonly afterSteps: number }
  | { readonly type: 'step'; readonly step: number; readonly hasBegun: boolean }
  | { readonly type: 'over' }

/** The progress of a training: which step or evaluation, its runs, the chunks that are trained on, and how long the whole still takes. */
export function watchTraining(job: Pick<Job, 'jobId' | 'snapshot'>, plan: TrainPlan, clock: Clock): Watch {
  const times = makeTrainTimes(plan, clock)
  const chunks = new Map<number, number>()
  /** Of the first split, before anything was trained and last. */
  const rates: number[] = []
  let ended = 0
  let measured: string[] = []
  let loss: number | null = null
  let stage: Stage
  let from: JobSnapshot
  let since: number
  let freshAt: number
  const tally = tallyRuns(job.jobId, receive)
  enter(nextStage())

  /** What comes when the step or the evaluation before is over. */
  function nextStage(): Stage {
    const first = dueAfter(ended).find(split => !measured.includes(split))
    if (first !== undefined) return { type: 'evaluation', split: first, afterSteps: ended }
    return ended < plan.steps ? { type: 'step', step: ended, hasBegun: false } : { type: 'over' }
  }

  function dueAfter(steps: number): readonly string[] {
    return isEvaluationDue({ first: true, last: true, every: plan.every, steps: plan.steps }, steps) ? plan.splits : []
  }

  function enter(next: Stage): void {
    stage = next
    from = job.snapshot()
    since = clock.now()
    freshAt = tally.ended
  }

  function noteEvaluation({ split, afterSteps, passRate }: { split: string; afterSteps: number; passRate: number }) {
    if (split === plan.splits[0]) rates.push(passRate)
    if (afterSteps === ended) measured.push(split)
  }

  function receive(event: TrainingEvent): void {
    times.receive(event)
    switch (event.type) {
      case 'resumed': {
        const { steps, evaluations } = event.history
        ended = steps.reduce((most, { step }) => Math.max(most, step + 1), 0)
        loss = steps.at(-1)?.loss ?? null
        // With steps after it that are over, an evaluation is not caught up on.
        measured = []
        for (const record of evaluations) noteEvaluation(record)
        enter(nextStage())
        return
      }
      case 'step-began': {
        const next = { type: 'step', step: event.step, hasBegun: true } as const
        // Its first runs may have been counted by now: they came after what was last seen to end.
        if (stage.type === 'step' && !stage.hasBegun) stage = next
        else enter(next)
        return
      }
      case 'chunk-trained':
        if (event.error === null) chunks.set(event.step, (chunks.get(event.step) ?? 0) + 1)
        loss = event.loss ?? loss
        return
      case 'step-ended':
        ended = event.record.step + 1
        measured = []
        loss = event.record.loss ?? loss
        chunks.delete(event.record.step)
        // With a policy lag the next one may be under way.
        if (stage.type !== 'step' || stage.step <= event.record.step) enter(nextStage())
        return
      case 'evaluated':
        noteEvaluation(event.record)
        enter(nextStage())
        return
      case 'stopped':
        enter({ type: 'over' })
        return
    }
  }

  function heldOut(): string[] {
    const [name] = plan.splits
    const [first, last] = [rates[0], rates.at(-1)]
    if (name === undefined || first === undefined || last === undefined) return []
    return [rates.length === 1 ? `${name} ${percent(first)}` : `${name} ${percent(first)} → ${percent(last)}`]
  }

  return {
    view() {
      const now = job.snapshot()
      const fresh = tally.ended - freshAt
      const moment = { now, from, fresh, elapsedMs: clock.now() - since, kinds: tally.kinds }
      const isRolling = now.finishedRuns < now.plannedRuns || now.plannedRuns === from.plannedRuns
      const trained = stage.type === 'step' ? (chunks.get(stage.step) ?? 0) : 0
      const leftMs = stage.type === 'over' ? null : times.leftMs()
      return toJobView(moment, {
        stage: toWords(stage, plan.steps, isRolling),
        rate: isRolling ? paceOfRuns(moment).rate : null,
        leftMs,
        figures: [
          ...(trained === 0 ? [] : [`${trained} ${trained === 1 ? 'chunk' : 'chunks'} trained`]),
          ...(loss === null ? [] : [`loss ${decimal(loss, 1)}`]),
          ...heldOut(),
        ],
        data: { stepsEnded: ended, steps: plan.steps, chunks: trained, loss, heldOut: rates.at(-1) ?? null },
      })
    },
    stop: tally.stop,
  }
}

function toWords(stage: Stage, steps: number, isRolling: boolean): string {
  switch (stage.type) {
    case 'evaluation':
      return `${stage.split} ${stage.afterSteps === 0 ? 'before training' : `after step ${stage.afterSteps}/${steps}`}`
    case 'step':
      return `step ${stage.step + 1}/${steps} ${isRolling ? 'rollouts' : 'training'}`
    case 'over':
      return 'ending'
  }
}
