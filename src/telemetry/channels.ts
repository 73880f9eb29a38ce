import { channel } from 'node:diagnostics_channel'
import type { ErrorData } from '../errors.ts'
import type { JobId } from '../ids.ts'
import type { ReportCounts } from '../job/reporter.ts'
import type { Group } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { TrainingEvent } from '../training/loop/events.ts'

/**
 * What the library has to say without being asked: it prints nothing by itself. Subscribe with `node:diagnostics_channel`. Several engines of a process
 * share the channels; what is about one of them names its job, as `jobId` or as `details.jobId` of an `ErrorData`.
 */
export interface ChannelMessages {
  /** A sandbox that will not go. */
  readonly sandbox: ErrorData
  /** An actor that failed, and what its parent did. */
  readonly actor: ErrorData
  /** A message that nobody could receive. */
  readonly deadLetter: ErrorData
  /** A body that had to be split, a batch without a gradient. */
  readonly training: ErrorData
  /** What no caller of an environment served here can be told: a teardown that failed, a connection that was not accepted. */
  readonly environment: ErrorData
  /** Of an engine on several machines: a worker that is lost or refused, a stream that is full, a server that is away. */
  readonly cluster: ErrorData
  readonly engine: EngineEvent
  /** Of an engine on several machines, once a second, and soon after a worker has come or gone. */
  readonly workers: WorkersEvent
  /** A run that ended, once it is durable: whatever became of it. */
  readonly run: RunHeader
  /** A group that ended, as the stream is going to hand it out. Whoever keeps it keeps its trajectories. */
  readonly group: Group
  /** Of the job's reporter, where it has one. */
  readonly report: ReportEvent
  /** What a training tells, as its own events do, with its job. */
  readonly trainingEvent: { readonly jobId: JobId; readonly event: TrainingEvent }
}

export type ReportEvent =
  /** `url`: where a person looks at the job. */
  | { readonly type: 'opened'; readonly jobId: JobId; readonly url: string }
  /** The first trouble of its kind; the job goes on. */
  | { readonly type: 'problem'; readonly jobId: JobId; readonly error: ErrorData }
  | { readonly type: 'closed'; readonly jobId: JobId; readonly url: string; readonly counts: ReportCounts }

/** What is published on `troupe:engine`. */
export type EngineEvent =
  | {
      readonly type: 'started'
      readonly jobId: JobId
      readonly runtime: string
      /** 0: everything is in the calling thread. */
      readonly threads: number
      readonly maxConcurrent: number
    }
  | {
      readonly type: 'closed'
      readonly jobId: JobId
      /** Sandboxes that may still exist, as their provider names them. */
      readonly sandboxesLeft: readonly string[]
    }

/** What is published on `troupe:workers`: the workers that the job's coordinator knows to be there. */
export interface WorkersEvent {
  readonly jobId: JobId
  readonly workers: number
  /** Rollouts that all of them together may have at once. */
  readonly credits: number
  /** Of those the ones that nobody uses. */
  readonly creditsFree: number
  /** One by one: those that are there, by node, and then those that are gone since ten minutes at most, the last first. */
  readonly each: readonly KnownWorker[]
}

/** A worker as its coordinator knows it, by what it said last. Times are milliseconds since 1970, by the coordinator's clock. */
export interface KnownWorker {
  readonly node: string
  readonly host: string
  /**
   * `draining`: takes nothing new. `silent`: not heard of for half of the time after which it is lost. `lost`: its groups are others'. `left`: by itself, and what it
   * had is given back.
   */
  readonly state: 'joined' | 'draining' | 'silent' | 'lost' | 'left'
  /** Under way there, and the groups that they are of. */
  readonly rollouts: number
  readonly groups: number
  /** Rollouts that it may have of this job at once. */
  readonly credits: number
  /** Rollouts that ended there since it joined, and per second over the last ten. */
  readonly runs: number
  readonly rate: number
  /** Those that it has made and that are not gone; null where it has not told yet. */
  readonly sandboxes: number | null
  /** When it joined, and when it gave the last sign of life. */
  readonly since: number
  readonly heardAt: number
  /** Of one that is gone: since when. */
  readonly goneAt?: number
  /** Of a lost one: from when at the latest others are given its groups. */
  readonly othersAt?: number
}

/** Their names at `node:diagnostics_channel`. */
export const CHANNELS = {
  sandbox: 'troupe:sandbox',
  actor: 'troupe:actor',
  deadLetter: 'troupe:dead-letter',
  training: 'troupe:training',
  environment: 'troupe:environment',
  cluster: 'troupe:cluster',
  engine: 'troupe:engine',
  workers: 'troupe:workers',
  run: 'troupe:run',
  group: 'troupe:group',
  report: 'troupe:report',
  trainingEvent: 'troupe:training-event',
} as const satisfies Record<keyof ChannelMessages, string>

/**
 * Held for good. Node forgets a channel that nobody holds, and in release 20 its clean-up then takes the next one of that name away, with those who have
 * subscribed to it meanwhile: they would hear nothing more, and nobody would tell them.
 */
const channels = new Map(Object.values(CHANNELS).map(name => [name, channel(name)] as const))

/** Costs next to nothing while nobody listens, and then answers false. */
export function publish<Name extends keyof ChannelMessages>(name: Name, message: ChannelMessages[Name]): boolean {
  const target = channels.get(CHANNELS[name])
  if (target?.hasSubscribers !== true) return false
  target.publish(message)
  return true
}
