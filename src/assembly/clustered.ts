import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeskMessage, DispatcherMessage, WorkerNote } from '../../actors/cluster-messages.ts'
import { clusterPool } from '../../actors/cluster-pool.ts'
import { ANY_START, dispatcher } from '../../actors/dispatcher.ts'
import type { HandOut } from '../../actors/dispatcher-ports.ts'
import type { SupervisorMessage } from '../../actors/messages.ts'
import type { CancelTimer } from '../clock.ts'
import { connectNats } from '../cluster/connect.ts'
import { makeDesks } from '../cluster/desks.ts'
import { noWorkers, planExhausted, workerLost, workerVersion } from '../cluster/errors.ts'
import type { JobEntry } from '../cluster/job-board.ts'
import { type NodeLinks, openNodeLinks } from '../cluster/node-links.ts'
import { type ClusterOptions, DEFAULT_REDELIVER_MS } from '../cluster/options.ts'
import { openParcels } from '../cluster/parcels.ts'
import { toSharedAgent } from '../cluster/places.ts'
import { openPlanQueue } from '../cluster/plan-queue.ts'
import { makePublisher } from '../cluster/publish.ts'
import { openResultFeed, type ResultFeed } from '../cluster/result-feed.ts'
import { MOST_DELIVERIES } from '../cluster/streams.ts'
import { makeTrouble } from '../cluster/trouble.ts'
import { untilAnswered } from '../cluster/until-answered.ts'
import { type PlanMessage, PROTOCOL } from '../cluster/wire.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import type { RunId } from '../ids.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'
import type { Drained } from '../pool/pool.ts'
import { planSource } from '../pool/source.ts'
import type { PoolStats } from '../pool/stats.ts'
import { publish } from '../telemetry/channels.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'
import { readVersion } from '../version.ts'
import { takeHold } from './cluster-hold.ts'
import { type Engine, type EnginePorts, type Shards, startEngine } from './engine.ts'
import { openLimitPeers } from './limit-peers.ts'
import type { EngineSettings } from './settings.ts'
import type { ShardData } from './shard.ts'

/** Nobody works by then: somebody may have forgotten to start workers. */
const LONELY_MS = 5_000

/** For an answer of JetStream: it is asked again, perhaps at another server. */
const ANSWER_MS = 2_000

/**
 * Rollout groups on other machines, whose workers find the job by NATS; collector and supervisor in this thread, and the journal here. Rejects as `connectNats` does. What
 * an earlier life of the job has left in the streams is taken up before this resolves.
 */
export async function startClusteredEngine(
  settings: EngineSettings,
  ports: EnginePorts,
  cluster: ClusterOptions,
): Promise<Engine> {
  const connection = await connectNats({
    urls: cluster.nats,
    role: 'coordinator',
    name: `troupe ${ports.jobId}`,
  })
  const over = new AbortController()
  try {
    return await coordinate(connection, settings, ports, cluster, over)
  } catch (error) {
    over.abort()
    await connection.close()
    throw error
  }
}

async function coordinate(
  connection: NatsConnection,
  settings: EngineSettings,
  ports: EnginePorts,
  cluster: ClusterOptions,
  over: AbortController,
): Promise<Engine> {
  const { jobId, journal } = ports
  const { clock, ids } = settings
  const { tell: onTrouble } = makeTrouble(jobId)
  const redeliverMs = cluster.redeliverMs ?? DEFAULT_REDELIVER_MS
  const epoch = ids.hex(4)
  const node = `${jobId}-${epoch}`
  const wanted = new Set<RunId>()
  /** Of runs that an earlier life has not drawn. */
  const earlyTraces = new Map<RunId, RunTrace>()
  const desks = makeDesks<Ref<DeskMessage>>()
  const manager = await untilAnswered(connection, clock, () => jetstreamManager(connection, { timeout: ANSWER_MS }))
  const hold = await takeHold(connection, manager, { ...ports, epoch, redeliverMs, clock, over, onTrouble })
  let hosted: Ref<DispatcherMessage> | undefined
  const tell = (message: DispatcherMessage) => void hosted?.tell(message)
  const queue = openPlanQueue({
    connection,
    manager,
    publisher: makePublisher({ client: jetstream(connection), clock, signal: over.signal, onTrouble }),
    ...hold.own,
    onExhausted: (groupId, start) => tell({ type: 'exhausted', groupId, start }),
    onError: onTrouble,
  })
  // What an earlier life handed out is handed out anew, without what is durable by now.
  await queue.purge()
  let feed: ResultFeed | undefined
  let links: NodeLinks | undefined
  let lonely: CancelTimer = () => {}

  function judgeWorker({ node: worker, version, protocol }: WorkerNote): ErrorData | undefined {
    const own = { version: readVersion(), protocol: PROTOCOL }
    if (version === own.version && protocol === own.protocol) return undefined
    return workerVersion(worker, { job: own, worker: { version, protocol } })
  }

  const toMessage = ({ agent, ...plan }: HandOut): PlanMessage => {
    return { ...plan, epoch, agent: toSharedAgent(agent, process.cwd()) }
  }
  /** By the worker's desk. */
  const sandboxes = new Map<string, number>()
  const onStats = (address: string, { created, gone }: PoolStats) => void sandboxes.set(address, created - gone)

  function host(system: ActorSystem, supervisor: Ref<SupervisorMessage>, data: ShardData): Shards {
    links = openNodeLinks(connection, system, () => ids.hex(4), onTrouble)
    const root = system.spawn(
      dispatcher({
        supervisor,
        collector: system.ref(data.collector),
        strategy: data.strategy,
        journal,
        wanted,
        // Tried until it is there, or until the engine ends.
        putPlan: plan => void queue.put(toMessage(plan)).catch(error => over.signal.aborted || onTrouble(error)),
        bury(plan) {
          queue.bury(toMessage(plan)).catch(error => over.signal.aborted || onTrouble(error))
          const error = planExhausted(plan.plan.groupId, MOST_DELIVERIES)
          onTrouble(error)
          return error
        },
        mostLosses: MOST_DELIVERIES,
        async purgePlans() {
          await hold.look()
          if (!hold.isLost()) await queue.purge()
        },
        settled: async () => (hold.isLost() ? undefined : feed?.settled()),
        takenSoFar: async () => feed?.takenSoFar(),
        judgeWorker,
        silenceMs: redeliverMs / 2,
        dropLink(worker, silentMs) {
          const error = workerLost(worker, silentMs)
          onTrouble(error)
          links?.drop(worker, error)
        },
        onDead(owner, isDead) {
          if (isDead) desks.dead.add(owner)
          else desks.dead.delete(owner)
        },
        reapAfterMs: redeliverMs,
        reaping: hold.reaping,
        onWorkers(all) {
          lonely()
          desks.set(all)
          for (const address of sandboxes.keys())
            if (!all.some(desk => desk.address === address)) sandboxes.delete(address)
        },
        sandboxesOf: address => sandboxes.get(address) ?? null,
        onFigures: figures => void publish('workers', { jobId, ...figures }),
        onTrouble,
        limits: openLimitPeers({ connection, system, links, tell, onTrouble }),
      }),
    )
    hosted = root
    hold.watchLeases(leases => root.tell({ type: 'leases-seen', leases }))
    supervisor.tell({ type: 'shard-up', node: 'cluster', root })
    // It stops with its system, once the workers have ended.
    return { close: async () => {} }
  }

  const { strategy, source } = settings.pool
  const asked = { strategy, source: planSource(source, settings.runtime, 0).type }
  const engine = startEngine(settings, ports, host, {
    system: { node },
    takeEarlyTrace(runId) {
      const trace = earlyTraces.get(runId)
      earlyTraces.delete(runId)
      return trace
    },
    startPool: system => system.spawn(clusterPool({ desks, asked, onStats, reaping: hold.reaping, onTrouble })),
  })
  feed = await openResultFeed(connection, manager, {
    ...hold.own,
    journal,
    parcels: openParcels(connection),
    clock,
    isWanted: runId => wanted.has(runId),
    onRun: (header, trajectory, trace) => tell({ type: 'run-arrived', header, trajectory, trace }),
    onEarly(header, trace) {
      if (trace !== undefined) earlyTraces.set(header.runId, trace)
      tell({ type: 'run-early', header })
    },
    onEnd: end => {
      if (end.epoch === epoch) tell(end)
    },
    onGap: groupId => tell({ type: 'handed-back', groupId, start: ANY_START }),
    onUnkept: (groupId, error) => tell({ type: 'crashed', groupId, start: ANY_START, error: toErrorData(error) }),
    onError: hold.tellUnlessLost,
  })
  await feed.settled()
  hold.announce(toEntry(settings, cluster, { ...hold.own, node, dispatcher: hosted?.address ?? '' }))
  lonely = clock.after(LONELY_MS, () => onTrouble(noWorkers(cluster.nats)))

  /** Workers give their sandboxes back before the job is taken from the board. */
  async function close(): Promise<Drained> {
    lonely()
    try {
      return await engine.close()
    } finally {
      await hold.close(async () => {
        queue.close()
        await feed?.close()
      })
      await connection.close()
    }
  }

  return {
    run: engine.run,
    expect: engine.expect,
    room: engine.room,
    cancel: engine.cancel,
    poolStats: engine.poolStats,
    live: engine.live,
    get creditsInUse() {
      return engine.creditsInUse
    },
    close,
  }
}

/** Data only, and nothing of this machine. */
function toEntry(
  settings: EngineSettings,
  cluster: ClusterOptions,
  place: Pick<JobEntry, 'jobId' | 'life' | 'epoch' | 'host' | 'node' | 'redeliverMs' | 'dispatcher'>,
): JobEntry {
  const { deadlines, retries, groupStrategy, connections, threadHangMs, threadHeapBytes } = settings
  // How many sandboxes a worker may have is its own business.
  const { strategy, size, source, wave } = settings.pool
  return {
    ...place,
    protocol: PROTOCOL,
    version: readVersion(),
    runtime: cluster.runtime,
    engine: {
      pool: { strategy, size, source, wave },
      deadlines,
      retries,
      groupStrategy,
      connections,
      threadHangMs,
      ...(threadHeapBytes === undefined ? {} : { threadHeapBytes }),
    },
  }
}
