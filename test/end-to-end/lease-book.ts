import type { LeaseReply } from '../../actors/messages.ts'
import type { ErrorData } from '../../src/errors.ts'
import type { LeaseId, SandboxId } from '../../src/ids.ts'

type Leased = Extract<LeaseReply, { type: 'leased' }>

/** What was asked of pools and what they gave, kept by those who asked and by nobody else. */
export interface LeaseBook {
  readonly asked: number
  readonly refused: readonly ErrorData[]
  /** Sandboxes that were ever given out. */
  readonly given: ReadonlySet<SandboxId>
  readonly mostHeld: number
  /** What must never be: an answer without a question, a sandbox given twice, two at one address. */
  readonly problems: readonly string[]
  ask(leaseId: LeaseId): void
  answer(reply: LeaseReply): void
  giveBack(lease: Leased): void
  /** Questions without an answer, and leases not given back. */
  open(): readonly string[]
}

export function makeLeaseBook(): LeaseBook {
  const waiting = new Set<LeaseId>()
  const given = new Set<SandboxId>()
  const held = new Map<string, LeaseId>()
  const refused: ErrorData[] = []
  const problems: string[] = []
  let asked = 0
  let mostHeld = 0
  return {
    get asked() {
      return asked
    },
    get mostHeld() {
      return mostHeld
    },
    refused,
    given,
    problems,
    ask(leaseId) {
      asked += 1
      waiting.add(leaseId)
    },
    answer(reply) {
      if (!waiting.delete(reply.leaseId)) problems.push(`${reply.leaseId} was answered without waiting`)
      if (reply.type === 'refused') {
        refused.push(reply.error)
        return
      }
      const { leaseId, sandboxId } = reply
      const place = JSON.stringify(reply.address)
      const other = held.get(place)
      if (given.has(sandboxId)) problems.push(`${sandboxId} was given to ${leaseId} and to another before`)
      if (other !== undefined) problems.push(`${place} was given to ${leaseId} while ${other} had it`)
      given.add(sandboxId)
      held.set(place, leaseId)
      mostHeld = Math.max(mostHeld, held.size)
    },
    giveBack(lease) {
      held.delete(JSON.stringify(lease.address))
    },
    open: () => [...waiting, ...held.values()],
  }
}
