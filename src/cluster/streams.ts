import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { Objm } from '@nats-io/obj'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { allResultsOf, BUCKETS, plansConsumer, plansOf, resultsConsumer, STREAMS } from './names.ts'

const MIB = 2 ** 20
const DAY_MS = 24 * 3_600_000
/** How long a message's id is remembered, so that a repeated one is dropped: longer than a publisher tries again. */
const DUPLICATES_MS = 120_000
/** A worker is taken to be gone when its line is that old. */
const WORKER_TTL_MS = 15_000
/** Servers of a cluster from which on what they keep is kept three times. */
const REPLICATED_FROM = 3

/** Times a plan is given out: as often as a group may lose its thread, on one machine. */
export const MOST_DELIVERIES = 3

/**
 * Makes what is not there yet. All of it has limits, and what is full refuses instead of dropping what it has. What is there already is left as it is, so that an
 * operator may choose other limits.
 */
export async function ensureStreams(connection: NatsConnection, manager: JetStreamManager): Promise<void> {
  const replicas = replicasOf(connection)
  const common = {
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    duplicate_window: nanos(DUPLICATES_MS),
    num_replicas: replicas,
  }
  const workQueue = { ...common, retention: RetentionPolicy.Workqueue, max_age: nanos(7 * DAY_MS) }
  await ensureStream(manager, {
    ...workQueue,
    name: STREAMS.plans,
    subjects: ['troupe.plans.*'],
    max_bytes: 128 * MIB,
  })
  await ensureStream(manager, {
    ...workQueue,
    name: STREAMS.results,
    subjects: ['troupe.results.*.*'],
    max_bytes: 512 * MIB,
  })
  await ensureStream(manager, {
    ...common,
    name: STREAMS.dead,
    subjects: ['troupe.dead.*'],
    retention: RetentionPolicy.Limits,
    max_age: nanos(30 * DAY_MS),
    max_bytes: 64 * MIB,
  })
  const kvm = new Kvm(connection)
  await kvm.create(BUCKETS.jobs, { history: 1, max_bytes: 16 * MIB, replicas })
  await kvm.create(BUCKETS.workers, { history: 1, max_bytes: 16 * MIB, replicas, ttl: WORKER_TTL_MS })
  await new Objm(connection).create(BUCKETS.trajectories, {
    storage: StorageType.File,
    replicas,
    max_bytes: 512 * MIB,
    ttl: nanos(7 * DAY_MS),
  })
}

async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<void> {
  try {
    await manager.streams.info(config.name)
  } catch (error) {
    if (!isMissing(error)) throw error
    await manager.streams.add(config)
  }
}

/** Whether JetStream says that there is no such stream or consumer. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  )
}

/**
 * `redeliverMs`: a plan whose worker has been silent for so long goes to another. Those of an earlier life of the job are replaced: what it was given and has not acknowledged
 * comes at once, and not after its time.
 */
export async function makeConsumers(manager: JetStreamManager, job: string, redeliverMs: number): Promise<void> {
  await removeConsumers(manager, job)
  await manager.consumers.add(STREAMS.plans, {
    durable_name: plansConsumer(job),
    filter_subject: plansOf(job),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(redeliverMs),
    max_deliver: MOST_DELIVERIES,
    // Bounded by the workers' credits already.
    max_ack_pending: -1,
  })
  await manager.consumers.add(STREAMS.results, {
    durable_name: resultsConsumer(job),
    filter_subject: allResultsOf(job),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(RESULT_ACK_MS),
    max_ack_pending: MOST_UNACKED_RESULTS,
  })
}

/** For one run to be written to the journal. */
export const RESULT_ACK_MS = 60_000
/** Runs at once between the stream and the journal: bounds the coordinator's memory. */
const MOST_UNACKED_RESULTS = 256

/** The job is over: nothing of it stays but its dead letters. */
export async function removeJob(manager: JetStreamManager, job: string): Promise<void> {
  await removeConsumers(manager, job)
  await manager.streams.purge(STREAMS.plans, { filter: plansOf(job) })
  await manager.streams.purge(STREAMS.results, { filter: allResultsOf(job) })
}

async function removeConsumers(manager: JetStreamManager, job: string): Promise<void> {
  await manager.consumers.delete(STREAMS.plans, plansConsumer(job)).catch(ignoreMissing)
  await manager.consumers.delete(STREAMS.results, resultsConsumer(job)).catch(ignoreMissing)
}

function ignoreMissing(error: unknown): false {
  if (!isMissing(error)) throw error
  return false
}

/** A server tells of the others of its cluster. */
function replicasOf({ info }: NatsConnection): number {
  return (info?.connect_urls?.length ?? 1) >= REPLICATED_FROM && info?.cluster !== undefined ? REPLICATED_FROM : 1
}
