import type { PoolStats } from '../pool/stats.ts'
import type { Outcome } from '../rollout/run.ts'

/** Where a job stands now: counted from what happened, cheap enough to be asked for several times a second. */
export interface JobSnapshot {
  readonly plannedRuns: number
  readonly plannedGroups: number
  readonly finishedRuns: number
  readonly finishedGroups: number
  /** Finished runs that have a reward. */
  readonly graded: number
  /** Of those the ones with the full reward of 1. */
  readonly passed: number
  /** Sum of the graded runs' rewards. */
  readonly rewardSum: number
  readonly inFlight: number
  /** The most that were in flight at once. */
  readonly peakInFlight: number
  readonly byOutcome: Readonly<Record<Outcome, number>>
  /** Absent before the pool has answered for the first time. */
  readonly pool: PoolStats | undefined
  /** Time of sandboxes so far, from the create to the confirmed end of each, summed from looks at the pool ten times a second. */
  readonly sandboxMs: number
  /** Packed bytes of finished groups that wait for the consumer. */
  readonly waitingBytes: number
  /** Rollouts that threads have and that have not ended; `maxConcurrent` bounds them. */
  readonly creditsInUse: number
  /** CPU time of this process, user and system, since the job started; environment hosts and sandboxes are not in it. */
  readonly engineCpuMs: number
  readonly engineRssBytes: number
  readonly peakRssBytes: number
  /** 99th percentile of the main thread's event-loop delay since the job started. */
  readonly loopDelayP99Ms: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
}
