import type { AskPoolStats, DrainPool, Lease, LeaseLost, PoolStats } from '../../actors/messages.ts'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import { randomIds, toLeaseId, toRunId } from '../../src/ids.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { LeaseKind } from '../../src/runtimes/runtime.ts'
import { instantRuntime } from './instant-runtime.ts'

const DEADLINE_MS = 30_000
const task = { env: 'bench', id: 'bench', args: {}, slug: 'bench' }

/** The pool as it runs in an engine, actor and all, on a runtime that answers at once. */
export interface PoolActor {
  /** One lease, taken and given back: how long it took to get, in milliseconds. */
  cycle(): Promise<Cycle>
  stats(): Promise<PoolStats>
  /** Gives everything back. */
  close(): Promise<void>
}

export interface Cycle {
  readonly kind: LeaseKind
  readonly tookMs: number
}

const owner: Actor<null, LeaseLost> = { name: 'owner', initial: () => null, receive: state => state }

/** With `ready` sandboxes on the shelf. Resolves when they are there. */
export async function openPoolActor(ready: number): Promise<PoolActor> {
  const system = makeSystem({ node: 'bench' })
  const pool = system.spawn(
    sandboxPool({
      runtime: instantRuntime,
      pool: { strategy: 'prewarm', size: ready },
      maxSandboxes: 4 * ready,
      labels: { job: 'bench', owner: 'bench' },
      ids: randomIds,
    }),
  )
  const asker = system.spawn(owner)
  const askStats: AskPoolStats = { type: 'pool-stats' }
  const drainPool: DrainPool = { type: 'drain-pool' }
  const stats = () => system.ask(pool, askStats, DEADLINE_MS)
  let asked = 0
  pool.tell({ type: 'demand', remaining: Number.MAX_SAFE_INTEGER })
  const giveUpAt = performance.now() + DEADLINE_MS
  while ((await stats()).ready < ready)
    if (performance.now() > giveUpAt) throw new Error(`the pool had no ${ready} sandboxes ready in time`)
  return {
    stats,
    async cycle() {
      asked += 1
      const leaseId = toLeaseId(`lease-${asked}`)
      const question: Lease = {
        type: 'lease',
        leaseId,
        runId: toRunId(`run-${asked}`),
        task,
        owner: asker,
        deadlineMs: DEADLINE_MS,
      }
      const startedAt = performance.now()
      const reply = await system.ask(pool, question, DEADLINE_MS)
      const tookMs = performance.now() - startedAt
      if (reply.type !== 'leased') throw new Error(reply.error.message)
      pool.tell({ type: 'release', leaseId, sessionEnded: true })
      return { kind: reply.kind, tookMs }
    },
    async close() {
      await system.ask(pool, drainPool, DEADLINE_MS)
      await system.stop()
    },
  }
}
