import { collector } from '../../actors/collector.ts'
import type { PoolMessage, ShardReport, SupervisorMessage } from '../../actors/messages.ts'
import { shard } from '../../actors/shard.ts'
import { supervisor } from '../../actors/supervisor.ts'
import type { Agent } from '../../src/agents/agent.ts'
import type { ErrorData } from '../../src/errors.ts'
import { toGroupId, toJobId, toRunId, toSandboxId } from '../../src/ids.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem } from '../../src/kernel/system.ts'
import { withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { makeGate } from '../../src/rollout/gate.ts'
import type { Group, GroupStrategy } from '../../src/rollout/group.ts'
import { makeLiveBoard } from '../../src/rollout/live.ts'
import type { DurableRun, RunHeader } from '../../src/rollout/run.ts'
import { makeConservation } from '../../src/stream/conservation.ts'
import type { GroupPlan, PlannedGroup } from '../../src/taskset/plan.ts'
import { type FakePeer, fakeClient } from './fake-session.ts'
import { VirtualClock } from './virtual-clock.ts'

/** `count` groups of `size` members. */
export function plans(count: number, size: number): PlannedGroup[] {
  return Array.from({ length: count }, (_, index) => ({
    plan: {
      jobId: toJobId('job'),
      groupId: toGroupId(`g${index}`),
      step: 0,
      index,
      task: { env: 'fake', id: 'do', args: { index }, slug: `do-${index}` },
      members: Array.from({ length: size }, (_, member) => ({
        runId: toRunId(`g${index}-m${member}`),
        member,
        seed: member,
      })),
    },
    durable: [],
  }))
}

export interface SceneOptions {
  readonly agent: Agent
  readonly peer?: FakePeer
  readonly strategy?: GroupStrategy
  readonly maxConcurrent?: number
  readonly deadGroupLimit?: number
  readonly isFull?: () => boolean
  readonly retries?: number
  /** Goes before each write of a run: it may hold it up, or fail it. */
  readonly putRun?: (header: RunHeader) => Promise<void>
  readonly recordLoss?: () => Promise<void>
  /** In the place of the fake pool, which always has a sandbox. */
  readonly pool?: (system: ActorSystem) => Ref<PoolMessage>
}

/** Supervisor, collector and shards in one thread with a fake pool and peer; every message goes through the codec. */
export interface Scene {
  readonly system: ActorSystem
  readonly clock: VirtualClock
  readonly supervisor: Ref<SupervisorMessage>
  readonly groups: Group[]
  readonly failures: ErrorData[]
  /** Groups that ended because threads kept dying on them. */
  readonly lost: string[]
  readonly journal: Map<string, DurableRun>
  /** Leases given and not given back. */
  readonly leased: () => number
  readonly mostLeased: () => number
  run(groups: readonly PlannedGroup[]): void
  addShard(node: string): Ref<never>
  /** What a lost thread looks like from here. */
  loseShard(node: string): void
}

export function makeScene(options: SceneOptions): Scene {
  const clock = new VirtualClock()
  const system = makeSystem({ node: 'main', clock, encodeLocal: true, random: () => 0.5 })
  const groups: Group[] = []
  const failures: ErrorData[] = []
  const lost: string[] = []
  const journal = new Map<string, DurableRun>()
  const open = new Set<string>()
  let most = 0
  const pool =
    options.pool?.(system) ??
    system.spawn(
      fakePool(open, () => {
        most = Math.max(most, open.size)
      }),
    )
  let supervisorRef: Ref<SupervisorMessage>
  const collectorRef = system.spawn(
    collector({
      supervisor: () => supervisorRef,
      conservation: makeConservation(),
      onRun() {},
      onGroup: group => void groups.push(group),
    }),
  )
  supervisorRef = system.spawn(
    supervisor({
      pool,
      collector: collectorRef,
      durableRuns: async (plan: GroupPlan) => plan.members.flatMap(({ runId }) => journal.get(runId) ?? []),
      recordLoss: async ({ plan }) => {
        await options.recordLoss?.()
        lost.push(plan.groupId)
      },
      isFull: options.isFull ?? (() => false),
      onFailed: error => void failures.push(error),
      maxConcurrent: options.maxConcurrent ?? 1_000,
      deadGroupLimit: options.deadGroupLimit ?? 8,
    }),
  )
  const shards = new Map<string, Ref<never>>()
  return {
    system,
    clock,
    supervisor: supervisorRef,
    groups,
    failures,
    lost,
    journal,
    leased: () => open.size,
    mostLeased: () => most,
    run: planned =>
      void supervisorRef.tell({ type: 'run-groups', groups: planned, agent: { kind: 'held', key: 'agent' } }),
    addShard(node) {
      const root = system.spawn(
        shard({
          clock,
          client: fakeClient(options.peer ?? {}),
          journal: {
            putRun: async (header: RunHeader, trajectory: Uint8Array) => {
              await options.putRun?.(header)
              if (!journal.has(header.runId)) journal.set(header.runId, { header, trajectory })
            },
            putGroup: async () => {},
          },
          agents: async () => options.agent,
          pool,
          collector: collectorRef,
          supervisor: supervisorRef,
          finishing: makeGate(64),
          live: makeLiveBoard(clock),
          deadlines: withDefaultDeadlines(),
          retries: options.retries ?? 2,
          strategy: options.strategy ?? { type: 'complete' },
        }),
        node,
      )
      shards.set(node, root)
      supervisorRef.tell({ type: 'shard-up', node, root } satisfies ShardReport)
      return root
    },
    loseShard: node =>
      void supervisorRef.tell({ type: 'shard-down', node, error: { tag: 'link-down', message: `${node} died` } }),
  }
}

function fakePool(open: Set<string>, changed: () => void): Actor<null, PoolMessage> {
  return {
    name: 'pool',
    initial: () => null,
    receive(state, message, context) {
      if (message.type === 'lease') {
        open.add(message.leaseId)
        changed()
        context.reply(message, {
          type: 'leased',
          leaseId: message.leaseId,
          sandboxId: toSandboxId('s'),
          address: { kind: 'unix', path: '/nowhere' },
          sessionId: undefined,
          kind: 'cold',
        })
      } else if (message.type === 'release') open.delete(message.leaseId)
      else if (message.type === 'why-lost') context.reply(message, { type: 'diagnosis', error: undefined })
      return state
    },
  }
}
