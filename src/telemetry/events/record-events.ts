import type { Clock } from '../../clock.ts'
import type { Job } from '../../job/job.ts'
import { listenToJob } from '../listen.ts'
import type { EventLog } from './event-log.ts'
import { toEngineEvent, toGroupEvent, toPoolEvent, toProblemEvent, toRunEvent, toTrainingEvent } from './job-event.ts'

/** How often the pool's figures are written. */
export const SAMPLE_MS = 5_000

/** Writes down what happens to the job from now on, and how its pool stands every few seconds while an engine runs. Returns how to stop. */
export function recordEvents(
  job: Pick<Job, 'jobId' | 'snapshot'>,
  log: Pick<EventLog, 'append'>,
  clock: Clock,
): () => void {
  let engines = 0
  let cancelSample: (() => void) | undefined

  function sample(): void {
    log.append(toPoolEvent(job.snapshot()))
    cancelSample = clock.after(SAMPLE_MS, sample)
  }

  function endSamples(): void {
    cancelSample?.()
    cancelSample = undefined
  }

  const stopListening = listenToJob(job.jobId, {
    engine(event) {
      engines += event.type === 'started' ? 1 : -1
      log.append(toEngineEvent(event))
      if (engines > 0) cancelSample ??= clock.after(SAMPLE_MS, sample)
      else endSamples()
    },
    run: header => log.append(toRunEvent(header)),
    group: group => log.append(toGroupEvent(group)),
    training: event => log.append(toTrainingEvent(event)),
    problem: (kind, error) => log.append(toProblemEvent(kind, error)),
  })
  return () => {
    stopListening()
    endSamples()
  }
}
