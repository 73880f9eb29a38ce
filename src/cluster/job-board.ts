import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv'
import type { NatsConnection, QueuedIterator } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import type { JobId } from '../ids.ts'
import type { Deadlines, EngineOptions, PoolOptions } from '../job/options.ts'
import type { GroupStrategy } from '../rollout/group.ts'
import { badClusterMessage } from './errors.ts'
import { BUCKETS, toToken } from './names.ts'

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
export interface JobEntry {
  readonly protocol: number
  readonly version: string
  readonly jobId: JobId
  /** Which life of the job's coordinator this is. */
  readonly epoch: string
  /** The coordinator's node, and the address of the actor there that workers report to. */
  readonly node: string
  readonly dispatcher: string
  /** See `makeConsumers`. A worker that hears nothing of the coordinator for half as long gives up its groups. */
  readonly redeliverMs: number
  readonly runtime: RuntimeRequest
  readonly engine: WorkerEngine
}

/** An entry that is older than a few of these is of a coordinator that is gone. */
const REFRESH_MS = 1_000
const RETRY_MS = 500

/** The job's entry, written again every second for as long as it is not closed. */
export async function announceJob(
  connection: NatsConnection,
  entry: JobEntry,
  clock: Clock,
  onError: (error: unknown) => void,
): Promise<{ close(): Promise<void> }> {
  const bucket = await new Kvm(connection).open(BUCKETS.jobs)
  const key = toToken(entry.jobId)
  const text = JSON.stringify(entry)
  const over = new AbortController()
  await bucket.put(key, text)
  const refreshing = (async () => {
    while (!over.signal.aborted) {
      await sleep(clock, Math.min(REFRESH_MS, entry.redeliverMs / 6), over.signal).catch(() => {
        // Only the signal ends the sleep.
      })
      if (!over.signal.aborted) await bucket.put(key, text).catch(onError)
    }
  })()
  return {
    async close() {
      over.abort()
      await refreshing
      await bucket.delete(key)
    },
  }
}

export interface JobWatcher {
  /** It is there, and its coordinator is alive. Told again with each sign of life. */
  onSign(entry: JobEntry): void
  onGone(key: string): void
  onError(error: unknown): void
}

/** Hears of jobs until it is closed. An entry that nobody renews is not told of. */
export async function watchJobs(
  connection: NatsConnection,
  clock: Clock,
  watcher: JobWatcher,
): Promise<{ close(): Promise<void> }> {
  const bucket: KV = await new Kvm(connection).open(BUCKETS.jobs)
  const over = new AbortController()
  let watch: QueuedIterator<KvWatchEntry> | undefined
  const watching = (async () => {
    while (!over.signal.aborted) {
      try {
        watch = await bucket.watch()
        for await (const entry of watch) {
          if (over.signal.aborted) break
          if (entry.operation !== 'PUT') watcher.onGone(entry.key)
          else if (entry.isUpdate) watcher.onSign(parseEntry(entry))
        }
      } catch (error) {
        watcher.onError(error)
        await sleep(clock, RETRY_MS, over.signal).catch(() => {
          // Only the signal ends the sleep.
        })
      }
    }
  })()
  return {
    async close() {
      over.abort()
      watch?.stop()
      await watching
    },
  }
}

/** What every version has, so that versions can be compared; the rest is looked at by those of the same one. Throws `bad-cluster-message`. */
function parseEntry(entry: KvWatchEntry): JobEntry {
  let value: unknown
  try {
    value = entry.json()
  } catch (error) {
    throw badClusterMessage(`${BUCKETS.jobs}/${entry.key}`, 'it is no JSON', error)
  }
  const isEntry =
    typeof value === 'object' &&
    value !== null &&
    'protocol' in value &&
    'version' in value &&
    'jobId' in value &&
    'epoch' in value
  if (!isEntry) throw badClusterMessage(`${BUCKETS.jobs}/${entry.key}`, 'it is no job')
  return value as JobEntry
}
