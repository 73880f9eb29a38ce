import type { GroupId, JobId, RunId } from '../ids.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { DurableRun, RunHeader } from '../rollout/run.ts'

/** Which job, made when and how; enough to run the same command again. */
export interface JobRecord {
  readonly jobId: JobId
  readonly name: string
  readonly startedAt: number
  readonly seed: number
  readonly settings: Readonly<Record<string, unknown>>
}

/** What happened to a group's data after it ended. */
export type Consumption = 'pending' | 'consumed' | 'dropped'

/** A group's line in the ledger. */
export interface LedgerEntry {
  readonly consumption: Consumption
  /** Why it was dropped. */
  readonly reason?: string
}

/** Something small that a job keeps under a key of its own, for whoever wrote it to read back. */
export interface KeptRecord {
  readonly key: string
  readonly value: unknown
}

/**
 * Where finished runs are kept. `putRun` and `putGroup` resolve when the record is durable: it survives the process being
 * killed. Threads write to the same journal directly.
 */
export interface Journal {
  /** The directory, or `memory`. */
  readonly location: string
  putJob(job: JobRecord): Promise<void>
  /**
   * `trajectory` is the packed form, and must be neither changed nor transferred before this resolves: it is written from where it
   * is. Putting a run id again replaces nothing: the first terminal attempt wins.
   */
  putRun(header: RunHeader, trajectory: Uint8Array): Promise<void>
  /** Enters the ledger as pending, or as dropped when that is how the group ended. Putting it again changes nothing. */
  putGroup(group: GroupRecord): Promise<void>
  /**
   * Moves a group in the ledger; false when it already was consumed or dropped, so a chunk is never counted twice. Rejects with
   * `unknown-group` when it was never put.
   */
  settleGroup(jobId: JobId, groupId: GroupId, to: Exclude<Consumption, 'pending'>, reason?: string): Promise<boolean>
  /** Durable when it resolves. `value` is data that msgpack knows; putting a key again replaces its value. */
  putRecord(jobId: JobId, key: string, value: unknown): Promise<void>
  jobs(): Promise<readonly JobRecord[]>
  run(runId: RunId): Promise<DurableRun | undefined>
  /** A run's packed trajectory, read now: for whoever keeps many runs and looks at few. Throws `unknown-run`. */
  trajectory(runId: RunId): Uint8Array
  /** Headers of a job's durable runs in the order they were planned. */
  runs(jobId: JobId): AsyncIterable<RunHeader>
  groups(jobId: JobId): AsyncIterable<GroupRecord & LedgerEntry>
  /** A job's records whose keys begin with `prefix`, in the order of their keys. */
  records(jobId: JobId, prefix: string): AsyncIterable<KeptRecord>
  /** Twice is once. Everything after it rejects with `journal-closed`. */
  close(): Promise<void>
}

/** How a thread opens the journal that the main thread holds. */
export type JournalSpec = { readonly kind: 'lmdb'; readonly directory: string }
