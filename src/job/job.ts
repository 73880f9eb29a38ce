import { randomInt } from 'node:crypto'
import type { AgentSpec } from '../agents/agent.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type IdSource, type JobId, type RunId, randomIds, toJobId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { Group, GroupRecord } from '../rollout/group.ts'
import type { LiveList } from '../rollout/live.ts'
import type { Run } from '../rollout/run.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { GroupStream } from '../stream/group-stream.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { findUnfinishedJob } from './find-unfinished.ts'
import { type JobRunner, makeJobRunner } from './job-runner.ts'
import type { RunOptions } from './options.ts'
import { makeProgress } from './progress.ts'
import { type JobRecords, makeJobRecords } from './records.ts'
import type { ReportCounts, Reporter } from './reporter.ts'
import type { JobSnapshot } from './snapshot.ts'

export interface JobOptions extends RunOptions {
  /** Kept in the job's record. The same name and settings find an unfinished job again; see `resume`. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Goes on with the newest unfinished job of this name and these settings in the journal, if there is one. Default false. */
  readonly resume?: boolean
  /**
   * Whether `groups` and `runs` have every group that ended: some kilobytes a run, for as long as the job lives. Default true. With `false` they stay
   * empty, and whoever reads the streams keeps what it wants of them: a job with a journal then needs no more memory however long it goes on.
   */
  readonly keepGroups?: boolean
  /** Told of everything that the job does: `createPlatformReporter()` tells HUD's platform. Default: nobody. */
  readonly reporter?: Reporter
}

/**
 * A set of runs that belong together: one evaluation, or all steps of a training. The engine that it starts with its first run
 * lives until `close`. Several jobs can live in one process, each with its own journal.
 */
export class Job implements AsyncDisposable {
  readonly jobId: JobId
  readonly name: string
  /** Seeds the order of groups and every agent. */
  readonly seed: number
  /** True when an earlier process's unfinished job goes on. */
  readonly resumed: boolean
  /** As it was started with: what makes two jobs the same. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly #runner: JobRunner

  private constructor(identity: JobIdentity, settings: Readonly<Record<string, unknown>>, runner: JobRunner) {
    this.jobId = identity.jobId
    this.name = identity.name
    this.seed = identity.seed
    this.resumed = identity.resumed
    this.settings = settings
    this.#runner = runner
  }

  /**
   * Opens the journal, if there is to be one, and finds or begins the job. `options` are the defaults of its runs. Rejects with
   * `journal-held`, `journal-version` or `journal-unusable`.
   */
  static async start(name: string, options: JobOptions = {}): Promise<Job> {
    const clock = options.clock ?? systemClock
    const journal = options.journal === undefined ? undefined : await openJournal(options.journal, clock)
    try {
      const identity = await findIdentity(name, options, journal, clock, options.ids ?? randomIds)
      const { jobId, seed, resumed } = identity
      const records = makeJobRecords(jobId, journal)
      const ids = options.ids ?? randomIds
      const report = await options.reporter?.open({ jobId, name, resumed, records, clock, ids })
      const progress = makeProgress(clock)
      const keepsGroups = options.keepGroups ?? true
      return new Job(
        identity,
        options.settings ?? {},
        makeJobRunner({
          jobId,
          name,
          seed,
          resumed,
          journal,
          defaults: options,
          keepsGroups,
          clock,
          progress,
          records,
          report,
        }),
      )
    } catch (error) {
      await journal?.close()
      throw error
    }
  }

  /** Every group that ended, in the order of their ends; dropped ones too. None with `keepGroups: false`. */
  get groups(): readonly Group[] {
    return this.#runner.groups
  }

  /** The runs of those groups: members side by side, in member order. */
  get runs(): readonly Run[] {
    return this.#runner.groups.flatMap(group => group.runs)
  }

  /** Small records that last as long as the job's journal: what has been trained on, and what came of it. */
  get records(): JobRecords {
    return this.#runner.records
  }

  /** Where its runs get their sandboxes from, unless they are given another. */
  get runtime(): Runtime | undefined {
    return this.#runner.runtime
  }

  /** What its reporter has told of it so far, and where that is to be seen; undefined without one. */
  get reported(): (ReportCounts & { readonly url: string }) | undefined {
    return this.#runner.reported
  }

  /**
   * Aborted when another coordinator has taken the job over (`job-taken-over`, its reason), which only happens on several machines: its streams end with that error, and nothing more of it
   * can be run here.
   */
  get lost(): AbortSignal {
    return this.#runner.lost
  }

  snapshot(): JobSnapshot {
    return this.#runner.snapshot()
  }

  /** Which rollouts are under way, and in which phase: the `most` (default 1,024) that have been so longest, and counts of all. Asks the threads, so a few times a second at most. */
  live(most = 1_024): Promise<LiveList> {
    return this.#runner.live(most)
  }

  /** A run of this job that has ended, by its id: from the journal, or from what the job keeps. Undefined where neither has it. */
  findRun(runId: RunId): Promise<Run | undefined> {
    return this.#runner.findRun(runId)
  }

  /** Groups that an earlier process of this job has ended, with their runs, in the order they were planned. None of a job that does not go on with one. */
  earlierGroups(): AsyncIterable<GroupRecord> {
    return this.#runner.earlierGroups()
  }

  /** Runs a taskset as the next step of this job; see `Taskset.stream`. */
  stream(taskset: Taskset, agent: AgentSpec, options: RunOptions = {}): GroupStream {
    return this.#runner.stream(taskset, agent, options)
  }

  /**
   * Tells that so many more rollouts are going to be run, so that sandboxes of a prewarmed pool are made ready for them; those that are then run count down. Before
   * the first run has started the engine it is kept until then. Announce what will surely come: what is made ready costs until it is used, or until 0 is expected.
   */
  expect(rollouts: number): void {
    this.#runner.expect(rollouts)
  }

  /**
   * Cancels what still runs, gives every sandbox back and ends threads and hosts. Twice is once. Rejects with `sandboxes-left`
   * naming sandboxes that may still exist.
   */
  close(): Promise<void> {
    return this.#runner.close()
  }

  /** Ends threads, sandboxes and hosts, but leaves the journal open, so that trajectories can be read until `close`. */
  stopEngines(): Promise<void> {
    return this.#runner.stopEngines()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

interface JobIdentity {
  readonly jobId: JobId
  readonly name: string
  readonly seed: number
  readonly resumed: boolean
}

async function openJournal(directory: string, clock: Clock): Promise<Journal> {
  const { openLmdbJournal } = await import('../journal/lmdb-journal.ts')
  return openLmdbJournal({ directory, clock, role: 'owner' })
}

const SEED_LIMIT = 2 ** 31

async function findIdentity(
  name: string,
  options: JobOptions,
  journal: Journal | undefined,
  clock: Clock,
  ids: IdSource,
): Promise<JobIdentity> {
  const settings = options.settings ?? {}
  const earlier =
    options.resume === true && journal !== undefined ? await findUnfinishedJob(journal, name, settings) : undefined
  if (earlier !== undefined) return { jobId: earlier.jobId, name, seed: earlier.seed, resumed: true }
  const jobId = toJobId(`job-${ids.hex(4)}`)
  const seed = options.seed ?? randomInt(SEED_LIMIT)
  await journal?.putJob({ jobId, name, startedAt: clock.wallTime(), seed, settings })
  return { jobId, name, seed, resumed: false }
}
