import type { AskPoolStats, DrainPool, Lease, LeaseLost, PoolMessage, Release } from '../../actors/messages.ts'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import { type Clock, sleep } from '../../src/clock.ts'
import type { ErrorData } from '../../src/errors.ts'
import { randomIds, toLeaseId, toRunId } from '../../src/ids.ts'
import type { PoolSource } from '../../src/job/options.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { DeadLetter } from '../../src/kernel/dead-letters.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { Drained } from '../../src/pool/pool.ts'
import type { PoolStats } from '../../src/pool/stats.ts'
import { makeRandom } from '../../src/random.ts'
import type { Runtime } from '../../src/runtimes/runtime.ts'
import { type LeaseBook, makeLeaseBook } from './lease-book.ts'

export interface PoolPlan {
  readonly runtime: Runtime
  readonly source: PoolSource
  /** Held ready. */
  readonly size: number
  readonly leases: number
  /** Leases that are asked for or held at once. */
  readonly wide: number
}

/** Pool actors and nothing else of an engine: who leases does so without a rollout. */
export interface LeaseScene {
  readonly book: LeaseBook
  readonly reports: readonly ErrorData[]
  /** Answers and messages that reached nobody. */
  readonly letters: readonly DeadLetter[]
  /** Asks for all leases of the plans, holds each a moment, and gives it back. */
  leaseAll(): Promise<void>
  stats(): Promise<readonly PoolStats[]>
  drain(): Promise<readonly Drained[]>
  stop(): Promise<void>
}

const LEASE_MS = 60_000
const DRAIN_MS = 120_000
const STATS_MS = 30_000
const MOST_HELD_MS = 20
/** Nothing is done with a sandbox that could notice its end. */
const holder: Actor<null, LeaseLost> = { name: 'holder', initial: () => null, receive: state => state }
const TASK = { env: 'calc', id: 'fix', args: {}, slug: 'fix' }

export function openLeases(plans: readonly PoolPlan[], clock: Clock, seed: number): LeaseScene {
  const letters: DeadLetter[] = []
  const reports: ErrorData[] = []
  const book = makeLeaseBook()
  const random = makeRandom(seed)
  const onDeadLetter = (letter: DeadLetter) => void letters.push(letter)
  const system = makeSystem({ node: 'main', clock, random, encodeLocal: true, onDeadLetter })
  const owner = system.spawn(holder)
  const pools = plans.map(plan => ({ plan, pool: system.spawn(toPool(plan, error => void reports.push(error))) }))

  async function leaseOne(pool: Ref<PoolMessage>, name: string): Promise<void> {
    const leaseId = toLeaseId(name)
    const question: Lease = {
      type: 'lease',
      leaseId,
      runId: toRunId(name),
      task: TASK,
      owner,
      deadlineMs: LEASE_MS,
    }
    book.ask(leaseId)
    const reply = await system.ask(pool, question, LEASE_MS + 30_000)
    book.answer(reply)
    if (reply.type === 'refused') return
    await sleep(clock, MOST_HELD_MS * random())
    book.giveBack(reply)
    pool.tell({ type: 'release', leaseId, sessionEnded: true } satisfies Release)
  }

  async function leaseFrom({ leases, wide }: PoolPlan, pool: Ref<PoolMessage>, name: string): Promise<void> {
    pool.tell({ type: 'demand', remaining: leases })
    let next = 0
    const worker = async () => {
      while (next < leases) {
        next += 1
        await leaseOne(pool, `${name}-${next}`)
      }
    }
    await Promise.all(Array.from({ length: wide }, worker))
  }

  return {
    book,
    reports,
    letters,
    async leaseAll() {
      await Promise.all(pools.map(({ plan, pool }, index) => leaseFrom(plan, pool, `lease-${index}`)))
    },
    stats() {
      const question: AskPoolStats = { type: 'pool-stats' }
      return Promise.all(pools.map(({ pool }) => system.ask(pool, question, STATS_MS)))
    },
    drain() {
      const question: DrainPool = { type: 'drain-pool' }
      return Promise.all(pools.map(({ pool }) => system.ask(pool, question, DRAIN_MS)))
    },
    stop: () => system.stop(),
  }
}

function toPool({ runtime, source, size, wide }: PoolPlan, report: (error: ErrorData) => void) {
  const parents = source.type === 'fork' ? (source.parents ?? 0) : 0
  return sandboxPool({
    runtime,
    pool: { strategy: 'prewarm', size, source },
    maxSandboxes: wide + size + parents,
    labels: { job: 'creates' },
    ids: randomIds,
    // Above what any takes here, and short for what never ends.
    provisionDeadlineMs: 30_000,
    disposeDeadlineMs: 4_000,
    disposeAttempts: 2,
    report,
  })
}
