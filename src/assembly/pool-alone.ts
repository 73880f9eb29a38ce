import type { AskPoolStats, DrainPool, Lease, LeaseLost, LeaseReply } from '../../actors/messages.ts'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import { type ErrorData, fromErrorData } from '../errors.ts'
import { randomIds, type SandboxId, toLeaseId, toRunId } from '../ids.ts'
import type { PoolOptions } from '../job/options.ts'
import type { Actor } from '../kernel/actor.ts'
import { makeSystem } from '../kernel/system.ts'
import type { PoolStats } from '../pool/stats.ts'
import type { LeaseKind, Runtime } from '../runtimes/runtime.ts'
import type { Task } from '../taskset/task.ts'
import type { Address } from '../wire/address.ts'

/** A sandbox on loan. */
export interface LeasedSandbox {
  readonly sandboxId: SandboxId
  readonly address: Address
  /** The parked session to resume; absent where the first `hello` is the holder's. */
  readonly sessionId: string | undefined
  readonly kind: LeaseKind
  /** Gives it back, once. `sessionEnded`: the session's own goodbye was seen. */
  release(how: { readonly sessionEnded: boolean }): void
}

/** The engine's pool actor by itself, for whoever wants sandboxes and no rollouts. */
export interface PoolAlone {
  /** Rejects with the pool's reason, at the latest after `deadlineMs`. */
  lease(task: Task, deadlineMs: number): Promise<LeasedSandbox>
  /** Tells that so many more leases are going to be asked for. */
  expect(leases: number): void
  stats(): Promise<PoolStats>
  /** Gives everything back. Twice is once; resolves with sandboxes that would not go. */
  close(): Promise<readonly SandboxId[]>
}

export interface PoolAloneOptions {
  readonly runtime: Runtime
  readonly pool: PoolOptions
  readonly maxSandboxes: number
  readonly labels: Readonly<Record<string, string>>
  /** Hears what went wrong without anyone having asked. */
  readonly report: (error: ErrorData) => void
}

const ASK_MS = 10_000
const DRAIN_MS = 60_000
/** Who holds a sandbox notices by itself that it is gone. */
const holder: Actor<null, LeaseLost> = { name: 'holder', initial: () => null, receive: () => null }

/** A prewarmed pool makes ready what is expected, and nothing before that. The runtime stays the caller's to close. */
export function openPoolAlone({ runtime, pool, maxSandboxes, labels, report }: PoolAloneOptions): PoolAlone {
  const system = makeSystem({ node: 'pool' })
  const owner = system.spawn(holder)
  const ref = system.spawn(sandboxPool({ runtime, pool, maxSandboxes, labels, ids: randomIds, report }))
  let leases = 0
  let closing: Promise<readonly SandboxId[]> | undefined

  return {
    async lease(task, deadlineMs) {
      const leaseId = toLeaseId(`lease-${leases++}`)
      const question: Lease = { type: 'lease', leaseId, runId: toRunId(leaseId), task, owner, deadlineMs }
      const reply: LeaseReply = await system.ask(ref, question, deadlineMs + ASK_MS)
      if (reply.type === 'refused') throw fromErrorData(reply.error)
      const { sandboxId, address, sessionId, kind } = reply
      const release = ({ sessionEnded }: { readonly sessionEnded: boolean }) =>
        void ref.tell({ type: 'release', leaseId, sessionEnded })
      return { sandboxId, address, sessionId, kind, release }
    },
    expect: remaining => void ref.tell({ type: 'demand', remaining }),
    stats() {
      const question: AskPoolStats = { type: 'pool-stats' }
      return system.ask(ref, question, ASK_MS)
    },
    close() {
      closing ??= (async () => {
        const question: DrainPool = { type: 'drain-pool' }
        const { quarantined } = await system.ask(ref, question, DRAIN_MS)
        await system.stop()
        return quarantined
      })()
      return closing
    },
  }
}
