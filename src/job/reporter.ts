import type { AgentRef } from '../agents/agent.ts'
import type { Clock } from '../clock.ts'
import type { IdSource, JobId } from '../ids.ts'
import type { Group } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { PlannedGroup } from '../taskset/plan.ts'
import type { JobRecords } from './records.ts'

/** Tells somebody outside what a job does. It holds nothing up: what it cannot tell is lost, counted, and no error of the job. */
export interface Reporter {
  /** Called once a job, before it runs anything. Rejects only where what it was made with cannot be used. */
  open(job: ReportedJob): Promise<JobReport>
}

/** A job as a reporter is told of it when it starts. */
export interface ReportedJob {
  readonly jobId: JobId
  readonly name: string
  /** An earlier process's job goes on: its records tell what that one has reported. */
  readonly resumed: boolean
  readonly records: JobRecords
  readonly clock: Clock
  readonly ids: IdSource
}

/** The report of one job. Its methods return at once and throw nothing. */
export interface JobReport {
  /** Where a person looks at it. */
  readonly url: string
  readonly counts: ReportCounts
  /** A taskset is about to be run. */
  began(what: { readonly group: number; readonly tasksetId: string | undefined }): void
  /** Told again for a group whose thread was lost. */
  groupStarted(group: PlannedGroup, agent: AgentRef): void
  /** A run has its end. Told again for one that was durable before its group went on. `trajectory` is packed, and the caller's: it is copied. */
  runEnded(header: RunHeader, trajectory: Uint8Array): void
  groupEnded(group: Group): void
  /** A group that an earlier process ended: what that one has not reported of it is reported now. */
  groupRecalled(group: Group): void
  /** Sends what it has as far as its time allows, and lets go of everything. Twice is once. */
  close(): Promise<ReportCounts>
}

/** What became of the runs that ended: each counts once. */
export interface ReportCounts {
  /** Wholly accepted at the other end. */
  readonly reported: number
  /** Refused there, or not reached; what was sent of one may be there in part. */
  readonly failed: number
  /** Never sent, for lack of room or of time. */
  readonly dropped: number
  /** Still to be sent. None after `close`. */
  readonly waiting: number
}
