import type { ErrorData } from '../errors.ts'
import type { JobSnapshot } from '../job/snapshot.ts'
import type { GroupEnd } from '../rollout/group.ts'
import type { Outcome, Phase, PhaseTimings, StopReason } from '../rollout/run.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import type { KnownWorker } from '../telemetry/channels.ts'
import type { EvaluationRecord, StepRecord } from '../training/records.ts'

/**
 * What a page or a terminal that watches a job is sent: first one `state`, then a `tick` at most four times a second with what is new. Another `state` may come at
 * any time, in the place of ticks that a slow reader has missed or when more became known of the job, and replaces all before it. Plain JSON.
 */
export type FeedMessage = ({ readonly type: 'state' } & FeedState) | ({ readonly type: 'tick' } & FeedTick)

/** Which job this is, and where what is told of it comes from. */
export interface FeedJob {
  readonly jobId: string
  readonly name: string
  readonly version: string
  /** `live`: told by the engine that runs it, here or in another process. `followed`: another process runs it, and its journal is read. `over`: it has ended. */
  readonly source: 'live' | 'followed' | 'over'
  readonly runtime: string | null
  readonly threads: number | null
  readonly maxConcurrent: number | null
  readonly settings: Readonly<Record<string, unknown>>
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/** Everything that a newcomer needs, bounded: the newest 5,000 runs, 2,000 groups, 1,000 chunks and 200 problems, oldest first. */
export interface FeedState {
  readonly job: FeedJob
  /** The feed's clock, milliseconds since 1970; spans are relative to it. */
  readonly at: number
  readonly now: FeedNow
  readonly live: readonly LiveRollout[]
  readonly runs: readonly FeedRun[]
  readonly groups: readonly FeedGroup[]
  readonly chunks: readonly FeedChunk[]
  readonly training: { readonly steps: readonly StepRecord[]; readonly evaluations: readonly EvaluationRecord[] }
  readonly failures: readonly FeedFailure[]
  readonly problems: readonly FeedProblem[]
  /** Absent for a job on one machine. */
  readonly workers?: FeedWorkers
}

/** What has changed since the message before. Absent: nothing. Lists are what is new, oldest first, and the newest 500 where more is; `live` and `workers` are the whole of what goes on. */
export interface FeedTick {
  readonly at: number
  readonly now: FeedNow
  readonly source?: FeedJob['source']
  readonly live?: readonly LiveRollout[]
  readonly runs?: readonly FeedRun[]
  readonly groups?: readonly FeedGroup[]
  readonly chunks?: readonly FeedChunk[]
  readonly steps?: readonly StepRecord[]
  readonly evaluations?: readonly EvaluationRecord[]
  /** Those kinds whose count has changed, whole. */
  readonly failures?: readonly FeedFailure[]
  readonly problems?: readonly FeedProblem[]
  readonly workers?: FeedWorkers
}

/** The figures of this moment. `null` figures: nobody can tell (a journal that is read has no pool). */
export interface FeedNow {
  readonly snapshot: JobSnapshot | null
  /** Rollouts that ended in the last 10 seconds, per second. */
  readonly rate: number
  /** Share of leases that found a warm sandbox waiting, 0 to 1; null before the first lease. */
  readonly hitRate: number | null
  /** In the currency of the prices that were given, since the job began; null without prices. `currency` is empty where none was named. */
  readonly cost: { readonly amount: number; readonly currency: string } | null
  readonly step: number | null
  /** How many rollouts are in each phase, those too that `live` does not list. Absent where nobody can tell. */
  readonly phases?: Readonly<Partial<Record<Phase, number>>>
}

/** A rollout under way. Of more than 1,024 those are listed that have been so longest, and less often: one message in four. */
export interface LiveRollout {
  readonly runId: string
  readonly groupId: string
  readonly slug: string
  readonly step: number
  readonly member: number
  readonly attempt: number
  readonly phase: Phase
  /** Milliseconds since 1970: when it began, and when its phase did. */
  readonly startedAt: number
  readonly since: number
}

/** A rollout that has ended. */
export interface FeedRun {
  readonly runId: string
  readonly groupId: string
  readonly slug: string
  readonly step: number
  readonly member: number
  readonly attempt: number
  readonly outcome: Outcome
  readonly reward: number | null
  readonly stopReason: StopReason
  readonly failedPhase?: Phase
  readonly error?: string
  readonly lease: LeaseKind | null
  readonly timings: PhaseTimings
  readonly startedAt: number
  readonly endedAt: number
}

/** A group that has ended, rewards in member order. */
export interface FeedGroup {
  readonly groupId: string
  readonly step: number
  readonly index: number
  readonly slug: string
  readonly end: GroupEnd['type']
  readonly rewards: readonly (number | null)[]
  readonly endedAt: number
}

/** One training call that is over: which groups went in together. */
export interface FeedChunk {
  readonly step: number
  readonly call: number
  readonly groups: readonly string[]
  readonly dropped: readonly string[]
  readonly datums: number
  readonly loss: number | null
  readonly tookMs: number
  readonly endedAt: number
  readonly error?: string
}

/** Who rolls out, of a job on several machines: told once a second at most. */
export interface FeedWorkers {
  /** Those that are there; `list` has 500 at most, and those that are gone. */
  readonly count: number
  /** Rollouts that all of them may have at once, and those of them that nobody uses. */
  readonly credits: number
  readonly creditsFree: number
  /** Those that are silent, lost or drain come first, and those that have left last. */
  readonly list: readonly KnownWorker[]
}

/** Rollouts without a grade, by what went wrong first. */
export interface FeedFailure {
  /** The error's tag, or the stop reason where there is none. */
  readonly kind: string
  readonly outcome: Outcome
  readonly count: number
  readonly first: {
    readonly runId: string
    readonly slug: string
    readonly phase: Phase | null
    readonly message: string
    readonly at: number
  }
}

/** What the engine said unasked, without secrets. */
export interface FeedProblem {
  readonly at: number
  readonly kind: string
  readonly tag: ErrorData['tag']
  readonly message: string
}
