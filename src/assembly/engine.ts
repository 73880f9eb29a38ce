import { collector } from '../../actors/collector.ts'
import type {
  AskLive,
  AskPoolStats,
  AskShards,
  CancelAll,
  DrainPool,
  PoolMessage,
  SupervisorMessage,
} from '../../actors/messages.ts'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import { supervisor } from '../../actors/supervisor.ts'
import type { LostGroup } from '../../actors/supervisor-state.ts'
import type { Agent, AgentRef, AgentSpec } from '../agents/agent.ts'
import type { ErrorData } from '../errors.ts'
import type { GroupId, JobId, RunId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { Ref } from '../kernel/ref.ts'
import { type ActorSystem, makeSystem, type SystemOptions } from '../kernel/system.ts'
import { toOwnerWord } from '../owner.ts'
import type { Drained } from '../pool/pool.ts'
import type { PoolStats } from '../pool/stats.ts'
import type { Group } from '../rollout/group.ts'
import { decideGroupEnd } from '../rollout/group-end.ts'
import { lostEnd, toLostHeader } from '../rollout/header.ts'
import { type LiveList, mergeLive } from '../rollout/live.ts'
import { packTrajectory } from '../rollout/pack.ts'
import type { DurableRun, RunHeader } from '../rollout/run.ts'
import { makeConservation } from '../stream/conservation.ts'
import type { WaitingBytes } from '../stream/credits.ts'
import type { GroupPlan, PlannedGroup } from '../taskset/plan.ts'
import { publish } from '../telemetry/channels.ts'
import { observed, ofJob } from '../telemetry/observed.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'
import { tracerOf } from '../telemetry/traces/tracers.ts'
import type { EngineSettings } from './settings.ts'
import type { ShardData } from './shard.ts'

/** What the engine's owner keeps for it and hears from it. */
export interface EnginePorts {
  readonly jobId: JobId
  /** Absent: runs are kept by the owner, in memory. */
  readonly journal: Journal | undefined
  /** Members of a plan that are durable, wherever the owner keeps them. */
  readonly durableRuns: (plan: GroupPlan) => Promise<readonly DurableRun[]>
  readonly waiting: WaitingBytes
  /** A group is handed to a thread; again, when that thread was lost. */
  readonly onStarted?: (group: PlannedGroup, agent: AgentRef) => void
  /** The share of a group's runs that is drawn, where others draw them than this process. Default: who draws the job here says it. */
  readonly traced?: (groupId: GroupId) => number | undefined
  /** `trajectory` is packed, and not the owner's to keep or change. `trace`: of a run that is drawn. */
  readonly onRun: (header: RunHeader, trajectory: Uint8Array, trace: RunTrace | undefined) => void
  readonly onGroup: (group: Group) => void
  readonly onFailed: (error: ErrorData) => void
  /** Another process has the job now: nothing of it may go on here. */
  readonly onLost?: (error: ErrorData) => void
}

/** Where the groups of an engine run: the one thing in which the assemblies differ. */
export interface Shards {
  /** Stops the shards in order and waits `deadlineMs` at most. */
  close(deadlineMs: number): Promise<void>
}

/** What is other than usual: in a simulation the order of its work, chance and what stands around its actors; in a cluster its node's name and whose sandboxes it counts. */
export interface EngineParts {
  readonly system?: Partial<Omit<SystemOptions, 'clock'>>
  readonly sandboxPool?: typeof sandboxPool
  /** In the place of a pool: where sandboxes are others'. */
  readonly startPool?: (system: ActorSystem) => Ref<PoolMessage>
  readonly collector?: typeof collector
  readonly supervisor?: typeof supervisor
  /** Of a run that came before anybody here waited for it: asked when it is taken up, and given out once. */
  readonly takeEarlyTrace?: (runId: RunId) => RunTrace | undefined
}

export interface Engine {
  run(groups: readonly PlannedGroup[], agent: AgentSpec): void
  /** So many rollouts are still to be handed in: the pool may make sandboxes ready for them. Those that are handed in count down. */
  expect(rollouts: number): void
  /** Looks whether more may start, after the consumer has taken something. */
  room(): void
  /** Cancels what is in flight; resolves when nothing is. */
  cancel(): Promise<void>
  poolStats(): Promise<PoolStats>
  /** Which rollouts are in which phase: the `most` that have been under way longest, and counts of all. A thread that does not answer is left out. */
  live(most: number): Promise<LiveList>
  /** Rollouts that threads have and that have not ended: what `maxConcurrent` bounds. */
  readonly creditsInUse: number
  /** Ends everything in reverse order of its start. What would not go is named. */
  close(): Promise<Drained>
}

const STATS_DEADLINE_MS = 5_000
const LIVE_DEADLINE_MS = 1_000
const NOTHING_LIVE: LiveList = { rollouts: [], phases: {} }
const CANCEL_DEADLINE_MS = 60_000
const DRAIN_DEADLINE_MS = 60_000
const SHARDS_DEADLINE_MS = 10_000

/** The main thread's actors, and `startShards` for the rest. */
export function startEngine(
  settings: EngineSettings,
  ports: EnginePorts,
  startShards: (
    system: ActorSystem,
    supervisorRef: Ref<SupervisorMessage>,
    data: ShardData,
    held: ReadonlyMap<string, Agent>,
  ) => Shards,
  parts: EngineParts = {},
): Engine {
  const { clock, ids } = settings
  const system = makeSystem({ node: 'main', clock, ...observed(ports.jobId), ...parts.system })
  const pool = (parts.startPool ?? startPool)(system)
  let creditsInUse = 0
  let supervisorRef: Ref<SupervisorMessage>
  const collectorRef = system.spawn(
    (parts.collector ?? collector)({
      supervisor: () => supervisorRef,
      conservation: makeConservation(),
      onRun(header, trajectory, trace) {
        publish('run', header)
        tracerOf(ports.jobId)?.runEnded(header, trace ?? parts.takeEarlyTrace?.(header.runId))
        ports.onRun(header, trajectory, trace)
      },
      onGroup(group) {
        publish('group', group)
        ports.onGroup(group)
      },
    }),
  )
  supervisorRef = system.spawn(
    (parts.supervisor ?? supervisor)({
      pool,
      collector: collectorRef,
      durableRuns: ports.durableRuns,
      recordLoss,
      isFull: () => ports.waiting.full,
      onStarted: (group, agent) => ports.onStarted?.(group, agent),
      onFailed: ports.onFailed,
      traced: ports.traced ?? (() => tracerOf(ports.jobId)?.share),
      onCredits(inUse) {
        creditsInUse = inUse
      },
      maxConcurrent: settings.maxConcurrent,
      deadGroupLimit: settings.deadGroupLimit,
    }),
  )
  const held = new Map<string, Agent>()
  const shards = startShards(
    system,
    supervisorRef,
    {
      pool: pool.address,
      collector: collectorRef.address,
      supervisor: supervisorRef.address,
      journal: ports.journal === undefined ? undefined : { kind: 'lmdb', directory: ports.journal.location },
      connections: settings.connections,
      deadlines: settings.deadlines,
      retries: settings.retries,
      strategy: settings.groupStrategy,
    },
    held,
  )

  function startPool(system: ActorSystem): Ref<PoolMessage> {
    const actor = (parts.sandboxPool ?? sandboxPool)({
      runtime: settings.runtime,
      pool: settings.pool,
      maxSandboxes: settings.pool.maxSandboxes,
      labels: { job: ports.jobId, owner: toOwnerWord() },
      ids,
      wave: settings.pool.wave,
      report: error => void publish('sandbox', ofJob(ports.jobId, error)),
    })
    return system.spawn(actor)
  }

  function hold(agent: AgentSpec): AgentRef {
    if (agent.kind !== 'closure') return agent
    const key = `closure-${held.size}`
    held.set(key, agent.agent)
    return { kind: 'held', key }
  }

  async function recordLoss(group: LostGroup, agent: AgentRef, error: ErrorData): Promise<void> {
    const at = clock.wallTime()
    const trajectory = () => packTrajectory(lostEnd(at, error).trajectory)
    const durable = new Map<string, DurableRun>(group.durable.map(run => [run.header.runId, run]))
    const runs: DurableRun[] = []
    for (const member of group.plan.members) {
      const bytes = trajectory()
      const header = toLostHeader(group.plan, member, { agent: agent.kind, at, bytes: bytes.byteLength }, error)
      const run = durable.get(member.runId) ?? { header, trajectory: bytes }
      runs.push(run)
      if (!durable.has(member.runId)) await ports.journal?.putRun(header, bytes)
    }
    const { jobId, groupId, step, index, task } = group.plan
    const headers = runs.map(run => run.header)
    const end = decideGroupEnd(settings.groupStrategy, headers)
    await ports.journal?.putGroup({ jobId, groupId, step, index, task, end, runs: headers })
    for (const run of runs) collectorRef.tell({ type: 'run-completed', ...run })
    collectorRef.tell({ type: 'group-ended', plan: group.plan, end, losses: group.losses })
  }

  publish('engine', {
    type: 'started',
    jobId: ports.jobId,
    runtime: settings.runtime.name,
    threads: settings.threads,
    maxConcurrent: settings.maxConcurrent,
  })
  return {
    run: (groups, agent) => void supervisorRef.tell({ type: 'run-groups', groups, agent: hold(agent) }),
    expect: rollouts => void supervisorRef.tell({ type: 'expect', rollouts }),
    room: () => void supervisorRef.tell({ type: 'room' }),
    async cancel() {
      const question: CancelAll = { type: 'cancel-all' }
      await system.ask(supervisorRef, question, CANCEL_DEADLINE_MS)
    },
    poolStats() {
      const question: AskPoolStats = { type: 'pool-stats' }
      return system.ask(pool, question, STATS_DEADLINE_MS)
    },
    async live(most) {
      const who: AskShards = { type: 'ask-shards' }
      const what: AskLive = { type: 'ask-live', most }
      const shards = await system.ask(supervisorRef, who, LIVE_DEADLINE_MS)
      // A thread that hangs or has just gone is the supervisor's to notice; what it hosts is only not shown.
      const ask = (shard: Ref<AskLive>) => system.ask(shard, what, LIVE_DEADLINE_MS).catch(() => NOTHING_LIVE)
      return mergeLive(await Promise.all(shards.map(ask)), most)
    },
    get creditsInUse() {
      return creditsInUse
    },
    async close() {
      await shards.close(SHARDS_DEADLINE_MS)
      const question: DrainPool = { type: 'drain-pool' }
      const drained = await system.ask(pool, question, DRAIN_DEADLINE_MS)
      await system.stop()
      publish('engine', { type: 'closed', jobId: ports.jobId, sandboxesLeft: drained.quarantined })
      return drained
    },
  }
}
