import type { JobId } from '../../ids.ts'
import { listenToJob } from '../../telemetry/listen.ts'
import type { TrainingEvent } from '../../training/loop/events.ts'

/** What has been heard of a job since somebody listens. */
export interface Tally {
  /** Runs that ended in this process. */
  readonly ended: number
  /** Those without a grade, by their error's tag or, where there is none, the reason why they stopped. */
  readonly kinds: ReadonlyMap<string, number>
  stop(): void
}

const SHOWN_KINDS = 3

/** Counts from now on. */
export function tallyRuns(jobId: JobId, onTraining: (event: TrainingEvent) => void = () => {}): Tally {
  let ended = 0
  const kinds = new Map<string, number>()
  const stop = listenToJob(jobId, {
    engine() {},
    group() {},
    problem() {},
    training: onTraining,
    run({ reward, error, stopReason }) {
      ended += 1
      if (reward !== null) return
      const kind = error?.tag ?? stopReason
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    },
  })
  return {
    get ended() {
      return ended
    },
    kinds,
    stop,
  }
}

/** `3 failed: 2 model-lost, 1 deadline`; the most frequent first. `failed` may be more than the kinds tell, of runs that an earlier process ended. */
export function describeFailures(failed: number, kinds: ReadonlyMap<string, number>): readonly string[] {
  if (failed <= 0) return []
  const sorted = [...kinds].sort(([, one], [, other]) => other - one)
  const words = sorted.slice(0, SHOWN_KINDS).map(([kind, count]) => `${count} ${kind}`)
  const more = sorted.length > SHOWN_KINDS ? ['…'] : []
  return [words.length === 0 ? `${failed} failed` : `${failed} failed: ${[...words, ...more].join(', ')}`]
}
