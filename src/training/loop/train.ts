import { publish } from '../../telemetry/channels.ts'
import type { EvaluationRecord, StepRecord } from '../records.ts'
import { trainingTaken } from './errors.ts'
import { makeEventQueue } from './event-queue.ts'
import type { TrainingEvent, TrainingHistory } from './events.ts'
import { type TrainingJob, type TrainOptions, toTrainSettings } from './options.ts'

/** Events that wait for their reader; a training whose reader is further behind waits for it. */
const WAITING_EVENTS = 256

/** A training, which begins when its events are read or its end is asked for. */
export interface Training extends AsyncIterable<TrainingEvent> {
  /** What has come of it so far, earlier processes included. */
  readonly history: TrainingHistory
  /** Reads the events itself and resolves with the whole history; earlier than planned when the signal stopped it. */
  finish(): Promise<TrainingHistory>
}

/** Jobs that are or were trained in this process: a job's ended groups are handed out again to the next process only. */
const taken = new WeakSet<TrainingJob>()

/**
 * Step after step: rollouts of groups, `forwardBackward` on chunks of whole groups while others still roll out, one `optimStep` when
 * every group has its end. Everything that is needed to go on is in the job's records before it is told: with the same job,
 * resumed, no graded run is run again and no group is trained on twice.
 *
 * Leaving the loop over its events, or the signal, ends it in order. Throws at once what is wrong with the options; the
 * iteration throws when a rollout stream, the optimiser step or the journal fails.
 */
export function train(options: TrainOptions): Training {
  const settings = toTrainSettings(options)
  if (taken.has(settings.job)) throw trainingTaken()
  const steps: StepRecord[] = []
  const evaluations: EvaluationRecord[] = []
  const history: TrainingHistory = { steps, evaluations }

  function note(event: TrainingEvent): void {
    if (event.type === 'resumed') {
      steps.push(...event.history.steps)
      evaluations.push(...event.history.evaluations)
    } else if (event.type === 'step-ended') steps.push(event.record)
    else if (event.type === 'evaluated') evaluations.push(event.record)
  }

  function iterate(): AsyncIterator<TrainingEvent, undefined> {
    if (taken.has(settings.job)) throw trainingTaken()
    taken.add(settings.job)
    const queue = makeEventQueue<TrainingEvent>(WAITING_EVENTS)
    const wanted = new AbortController()
    let running: Promise<void> | undefined
    const run = async () => {
      // Loaded with the first training: most programs that import the library train nothing.
      const { runTraining } = await import('./run-training.ts')
      await runTraining(settings, wanted, event => {
        note(event)
        publish('trainingEvent', { jobId: settings.job.jobId, event })
        return queue.push(event)
      })
    }
    const begin = () =>
      run().then(
        () => queue.end(),
        error => queue.end({ cause: error }),
      )
    return {
      next() {
        running ??= begin()
        return queue.next()
      },
      async return() {
        wanted.abort()
        queue.leave()
        await running
        return { done: true, value: undefined }
      },
    }
  }

  return {
    history,
    [Symbol.asyncIterator]: iterate,
    async finish() {
      const events = iterate()
      while (!(await events.next()).done);
      return history
    },
  }
}
