import type {
  AskPoolStats,
  DrainPool,
  Lease,
  LeaseLost,
  LeaseReply,
  PoolMessage,
  PoolStats,
  WhyLost,
} from '../../actors/messages.ts'
import { type SandboxPoolOptions, sandboxPool } from '../../actors/sandbox-pool.ts'
import type { ErrorData } from '../../src/errors.ts'
import { randomIds, toLeaseId, toRunId } from '../../src/ids.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { Drained } from '../../src/pool/pool.ts'
import type { Task } from '../../src/taskset/task.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { FakeRuntime } from './fake-runtime.ts'

export interface PoolScene {
  readonly clock: VirtualClock
  readonly runtime: FakeRuntime
  readonly reports: ErrorData[]
  readonly pool: Ref<PoolMessage>
  /** What owners were told, by their place. */
  readonly heard: readonly { readonly owner: number; readonly message: LeaseLost }[]
  lease(owner?: number, deadlineMs?: number): Promise<LeaseReply>
  /** The same for a task. */
  leaseFor(task: Task, more?: Pick<Lease, 'isExtra'>): Promise<LeaseReply>
  stats(): Promise<PoolStats>
  /** Of a lease that was given. */
  whyLost(reply: LeaseReply): Promise<ErrorData | undefined>
  drain(): Promise<Drained>
  stop(): Promise<void>
  stopOwner(index: number): void
}

type OwnerMessage = 'fail' | LeaseLost

const TASK: Task = { env: 'calc', id: 'fix', args: {}, slug: 'fix' }

/** Holds leases, and hears of those whose sandbox dies. */
const makeOwner = (name: string, hear: (message: LeaseLost) => void): Actor<null, OwnerMessage> => ({
  name,
  initial: () => null,
  receive(state, message) {
    if (message === 'fail') throw new Error('the owner fails')
    hear(message)
    return state
  },
})

/** A sandbox-pool actor on a fake runtime and a virtual clock, every message through the codec. */
export async function withPool(
  options: Partial<Omit<SandboxPoolOptions, 'runtime'>>,
  body: (scene: PoolScene) => Promise<void>,
  runtime: FakeRuntime = new FakeRuntime(),
  clock: VirtualClock = new VirtualClock(),
): Promise<void> {
  const reports: ErrorData[] = []
  const system = makeSystem({ node: 'main', clock, random: () => 0.5, encodeLocal: true })
  const pool = system.spawn(
    sandboxPool({
      runtime,
      pool: { strategy: 'cold', size: 0 },
      maxSandboxes: 4,
      labels: { job: 'job-1', owner: '42' },
      ids: randomIds,
      report: error => reports.push(error),
      ...options,
    }),
  )
  const heard: { readonly owner: number; readonly message: LeaseLost }[] = []
  const owners = ['a', 'b'].map((name, owner) =>
    system.spawn(makeOwner(name, message => heard.push({ owner, message }))),
  )
  const ownerAt = (index: number): Ref<OwnerMessage> => {
    const found = owners[index]
    if (found === undefined) throw new Error(`there is no owner ${index}`)
    return found
  }
  let asked = 0
  const ask = (wanted: Omit<Lease, 'type' | 'leaseId' | 'runId'>) => {
    asked += 1
    const question: Lease = {
      type: 'lease',
      leaseId: toLeaseId(`lease-${asked}`),
      runId: toRunId(`run-${asked}`),
      ...wanted,
    }
    return system.ask(pool, question, wanted.deadlineMs + 1_000)
  }
  const scene: PoolScene = {
    clock,
    runtime,
    reports,
    pool,
    heard,
    stop: () => system.stop(),
    stopOwner: index => void ownerAt(index).tell('fail'),
    lease: (ownerIndex = 0, deadlineMs = 60_000) => ask({ task: TASK, owner: ownerAt(ownerIndex), deadlineMs }),
    leaseFor: (task, more = {}) => ask({ task, owner: ownerAt(0), deadlineMs: 60_000, ...more }),
    stats() {
      const question: AskPoolStats = { type: 'pool-stats' }
      return system.ask(pool, question, 1_000)
    },
    async whyLost({ leaseId }) {
      const question: WhyLost = { type: 'why-lost', leaseId }
      return (await system.ask(pool, question, 5_000)).error
    },
    drain() {
      const question: DrainPool = { type: 'drain-pool' }
      return system.ask(pool, question, 120_000)
    },
  }
  try {
    await body(scene)
  } finally {
    runtime.undeletable = false
    await system.stop()
  }
}
