import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  JetStreamError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { Objm } from '@nats-io/obj'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import {
  allResultsOf,
  BUCKETS,
  type JobLife,
  lifeOf,
  plansConsumer,
  plansOf,
  resultsConsumer,
  STREAMS,
} from './names.ts'

const MIB = 2 ** 20
const DAY_MS = 24 * 3_600_000
/** How long a message's id is remembered, so that a repeated one is dropped: longer than a publisher tries again. */
const DUPLICATES_MS = 120_000
/** A worker is taken to be gone when its line is that old. */
const WORKER_TTL_MS = 15_000
/** A lease is written again long before, and a training has a version more often. */
const KEPT_MS = 30 * DAY_MS
/** Versions of a policy that are kept: the most that a bucket may have. */
const KEPT_VERSIONS = 64
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
  await kvm.create(BUCKETS.leases, { history: 1, max_bytes: 16 * MIB, replicas, ttl: KEPT_MS })
  await kvm.create(BUCKETS.policy, { history: KEPT_VERSIONS, max_bytes: 16 * MIB, replicas, ttl: KEPT_MS })
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

/** Whether JetStream says that there is no such stream or consumer, or none any more. */
export function isMissing(error: unknown): boolean {
  if (error instanceof JetStreamError) return error.message === 'consumer deleted'
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  )
}

/**
 * `redeliverMs`: a plan whose worker has been silent for so long goes to another. Those of an earlier life of the job are taken away: what it was given and has not acknowledged
 * comes at once, and not after its time; and where that life only seems to be over, it can take nothing any more. `checkClaim` rejects where a later life has the job.
 */
export async function makeConsumers(
  manager: JetStreamManager,
  of: JobLife,
  redeliverMs: number,
  checkClaim: () => Promise<void>,
): Promise<void> {
  for (const stream of [STREAMS.plans, STREAMS.results]) await removeOthers(manager, stream, of, checkClaim)
  await manager.consumers.add(STREAMS.plans, {
    durable_name: plansConsumer(of),
    filter_subject: plansOf(of.jobId),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(redeliverMs),
    max_deliver: MOST_DELIVERIES,
    // Bounded by the workers' credits already.
    max_ack_pending: -1,
  })
  await manager.consumers.add(STREAMS.results, {
    durable_name: resultsConsumer(of),
    filter_subject: allResultsOf(of.jobId),
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

/** The job is over: nothing of it stays but its dead letters, the versions of its policy, and leases of sandboxes that may still exist. */
export async function removeJob(manager: JetStreamManager, of: JobLife): Promise<void> {
  await manager.consumers.delete(STREAMS.plans, plansConsumer(of)).catch(ignoreMissing)
  await manager.consumers.delete(STREAMS.results, resultsConsumer(of)).catch(ignoreMissing)
  await manager.streams.purge(STREAMS.plans, { filter: plansOf(of.jobId) })
  await manager.streams.purge(STREAMS.results, { filter: allResultsOf(of.jobId) })
}

async function removeOthers(
  manager: JetStreamManager,
  stream: string,
  { jobId, life }: JobLife,
  checkClaim: () => Promise<void>,
): Promise<void> {
  for await (const { name } of manager.consumers.list(stream)) {
    const other = lifeOf(name, jobId)
    if (other === undefined || other === life) continue
    // Of a later life, or of one before somebody has made the board anew.
    if (other > life) await checkClaim()
    await manager.consumers.delete(stream, name).catch(ignoreMissing)
  }
}

function ignoreMissing(error: unknown): false {
  if (!isMissing(error)) throw error
  return false
}

/** A server tells of the others of its cluster. */
function replicasOf({ info }: NatsConnection): number {
  return (info?.connect_urls?.length ?? 1) >= REPLICATED_FROM && info?.cluster !== undefined ? REPLICATED_FROM : 1
}
