import type { Clock } from '../../clock.ts'
import type { Job } from '../../job/job.ts'
import type { JobSnapshot } from '../../job/snapshot.ts'
import { describePool } from '../../report/pool.ts'
import { decimal, percent } from '../../report/units.ts'
import { type Pace, paceOf } from './pace.ts'
import { describeFailures, tallyRuns } from './tally.ts'
import type { ProgressView } from './view.ts'

/** Something whose progress can be looked at, until it is stopped. */
export interface Watch {
  readonly view: () => ProgressView
  stop(): void
}

/** How the runs of a job stand: of all of them, or of those since `from`. */
export interface JobMoment {
  readonly now: JobSnapshot
  readonly from?: JobSnapshot
  /** Runs that this process ended, in `elapsedMs`. */
  readonly fresh: number
  readonly elapsedMs: number
  readonly kinds: ReadonlyMap<string, number>
}

const SAME = 0.0005

/** The progress of one set of runs, from now on. */
export function watchJob(job: Pick<Job, 'jobId' | 'snapshot'>, clock: Clock): Watch {
  const startedAt = clock.now()
  const tally = tallyRuns(job.jobId)
  return {
    view() {
      const elapsedMs = clock.now() - startedAt
      const moment = { now: job.snapshot(), fresh: tally.ended, kinds: tally.kinds, elapsedMs }
      return toJobView(moment, { stage: '', ...paceOfRuns(moment) })
    },
    stop: tally.stop,
  }
}

/** How quick the runs end, and when they will have ended. */
export function paceOfRuns({ now, from, fresh, elapsedMs }: JobMoment): Pace {
  const { planned, finished } = runsSince(now, from)
  return paceOf({ done: finished, total: planned, fresh, elapsedMs })
}

/** `figures` and `data` go before those of the runs. */
export function toJobView(
  { now, from, kinds }: JobMoment,
  shown: Pick<ProgressView, 'stage' | 'rate' | 'leftMs'> & Partial<Pick<ProgressView, 'figures' | 'data'>>,
): ProgressView {
  const { planned, finished, graded, passed, rewardSum } = runsSince(now, from)
  const failed = finished - graded
  const { pool } = now
  const inFlight = Math.min(now.inFlight, planned - finished)
  const passRate = graded === 0 ? null : passed / graded
  const meanReward = graded === 0 ? null : rewardSum / graded
  return {
    stage: shown.stage,
    done: finished,
    total: planned,
    unit: 'runs',
    rate: shown.rate,
    leftMs: shown.leftMs,
    figures: [
      ...(passRate === null ? [] : [`${percent(passRate)} passed`]),
      ...(isSame(passRate, meanReward) ? [] : [`reward ${decimal(meanReward)}`]),
      ...(shown.figures ?? []),
      ...describeFailures(failed, kinds),
      `${inFlight} in flight`,
      ...(pool === undefined ? [] : describePool(pool)),
    ],
    data: {
      ...shown.data,
      graded,
      passed,
      passRate,
      meanReward,
      failed,
      failures: Object.fromEntries(kinds),
      inFlight,
      pool: pool === undefined ? null : { ready: pool.ready, target: pool.target, leased: pool.leased },
    },
  }
}

function runsSince(now: JobSnapshot, from: JobSnapshot | undefined) {
  return {
    // What is planned and not finished at `from` is counted as what comes after it.
    planned: now.plannedRuns - (from?.finishedRuns ?? 0),
    finished: now.finishedRuns - (from?.finishedRuns ?? 0),
    graded: now.graded - (from?.graded ?? 0),
    passed: now.passed - (from?.passed ?? 0),
    rewardSum: now.rewardSum - (from?.rewardSum ?? 0),
  }
}

/** Where rewards are 0 and 1 alone, one of the two figures says it. */
function isSame(one: number | null, other: number | null): boolean {
  return one === null || other === null || Math.abs(one - other) < SAME
}
