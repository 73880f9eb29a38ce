import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import type { JobId } from '../ids.ts'
import type { Deadlines, EngineOptions, PoolOptions } from '../job/options.ts'
import type { GroupStrategy } from '../rollout/group.ts'
import { badClusterMessage } from './errors.ts'
import type { JobClaim } from './job-claim.ts'
import { JOBS_SUBJECT, type JobLife } from './names.ts'

/** Where a worker's sandboxes come from, as the options of the command say it: data, in which there is no secret. */
export interface RuntimeRequest {
  readonly arguments: Readonly<Record<string, unknown>>
  /** The source beside the tasks, from the working directory on where it lies below that. */
  readonly environment?: string
  /** Every task says which image its sandbox is made from. */
  readonly rowsNameImages: boolean
}

/** How each worker's engine is made. */
export interface WorkerEngine {
  readonly pool: PoolOptions
  readonly deadlines: Deadlines
  readonly retries: number
  readonly groupStrategy: GroupStrategy
  readonly connections: NonNullable<EngineOptions['connections']>
  readonly threadHangMs: number
  readonly threadHeapBytes?: number
}

/** What a worker needs to work for a job. */
export interface JobEntry extends JobLife {
  readonly protocol: number
  readonly version: string
  readonly jobId: JobId
  /** Which life of the job's coordinator this is, as a name. */
  readonly epoch: string
  readonly host: string
  /** The coordinator's node, and the address of the actor there that workers report to. */
  readonly node: string
  readonly dispatcher: string
  /** See `makeConsumers`. A worker that hears nothing of the coordinator for half as long gives up its groups. */
  readonly redeliverMs: number
  readonly runtime: RuntimeRequest
  readonly engine: WorkerEngine
}

/** Between two signs of life, at the most. */
const SIGN_MS = 1_000
/** Between two writings of the line that observers read. */
const WRITE_MS = 10_000

/**
 * Tells all workers of the job, every second for as long as it is not closed. That goes by messages which nobody keeps: a stream whose servers choose a leader takes
 * nothing for seconds, and workers would think the coordinator dead. The board has the entry for those who only look.
 */
export function announceJob(
  connection: NatsConnection,
  entry: JobEntry,
  claim: Pick<JobClaim, 'write'>,
  clock: Clock,
): { close(): Promise<void> } {
  const text = JSON.stringify(entry)
  const over = new AbortController()
  const every = async (pauseMs: number, work: () => unknown) => {
    while (!over.signal.aborted) {
      await work()
      await sleep(clock, pauseMs, over.signal).catch(() => {
        // Only the signal ends the sleep.
      })
    }
  }
  const telling = Promise.all([
    every(Math.min(SIGN_MS, entry.redeliverMs / 6), () => connection.publish(JOBS_SUBJECT, text)),
    every(WRITE_MS, () => claim.write(entry)),
  ])
  return {
    async close() {
      over.abort()
      await telling
    },
  }
}

export interface JobWatcher {
  /** Its coordinator is alive: told with each sign of life. */
  onSign(entry: JobEntry): void
  onError(error: unknown): void
}

/** Hears of jobs until it is closed. */
export function watchJobs(connection: NatsConnection, watcher: JobWatcher): { close(): void } {
  const subscription = connection.subscribe(JOBS_SUBJECT, {
    callback(error, message) {
      try {
        if (error !== null) throw error
        watcher.onSign(parseEntry(message.string()))
      } catch (thrown) {
        watcher.onError(thrown)
      }
    },
  })
  return { close: () => subscription.unsubscribe() }
}

/** What every version has, so that versions can be compared; the rest is looked at by those of the same one. Throws `bad-cluster-message`. */
function parseEntry(text: string): JobEntry {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badClusterMessage(JOBS_SUBJECT, 'it is no JSON', error)
  }
  const isEntry =
    typeof value === 'object' &&
    value !== null &&
    'protocol' in value &&
    'version' in value &&
    'jobId' in value &&
    'epoch' in value
  if (!isEntry) throw badClusterMessage(JOBS_SUBJECT, 'it is no job')
  return value as JobEntry
}
