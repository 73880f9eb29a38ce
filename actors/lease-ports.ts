import { type ErrorData, fromErrorData } from '../src/errors.ts'
import type { LeaseId } from '../src/ids.ts'
import type { Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { LeasePorts } from '../src/rollout/stay.ts'
import type { Lease, PoolMessage, RolloutGroupMessage, WhyLost } from './messages.ts'

/** Which sandbox a rollout asks for, and for whom. */
export type WantedLease = Pick<Lease, 'leaseId' | 'runId' | 'task' | 'isExtra'>

/** The pool refuses a late request itself; this is for a pool that does not answer at all. */
const LEASE_GRACE_MS = 5_000

/** For the pool, and the runtime behind it, to say why a sandbox was lost. */
const WHY_LOST_MS = 3_000

/** How one sandbox is asked of the pool and given back to it. Until then its rollout is among `lessees`, who are told when it dies. */
export function makeLeasePorts(
  wanted: WantedLease,
  pool: Ref<PoolMessage>,
  context: Context<RolloutGroupMessage>,
  lessees: Map<LeaseId, (why: ErrorData) => void>,
): LeasePorts {
  const { leaseId } = wanted
  return {
    async lease(deadlineMs, onLost) {
      lessees.set(leaseId, onLost)
      const question: Lease = { type: 'lease', ...wanted, owner: context.self, deadlineMs }
      const reply = await context.ask(pool, question, deadlineMs + LEASE_GRACE_MS)
      if (reply.type === 'refused') throw fromErrorData(reply.error)
      return reply
    },
    async whyLost() {
      const question: WhyLost = { type: 'why-lost', leaseId }
      const { error } = await context.ask(pool, question, WHY_LOST_MS)
      return error
    },
    release(sessionEnded) {
      lessees.delete(leaseId)
      pool.tell({ type: 'release', leaseId, sessionEnded })
    },
  }
}
