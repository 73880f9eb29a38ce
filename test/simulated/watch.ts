import type { CollectorMessage, PoolMessage, SupervisorMessage } from '../../actors/messages.ts'
import type { SandboxPoolState } from '../../actors/sandbox-pool.ts'
import type { LeaseId, SandboxId } from '../../src/ids.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { DeadLetter } from '../../src/kernel/dead-letters.ts'
import type { Failure } from '../../src/kernel/kernel.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

type Message = CollectorMessage | PoolMessage | SupervisorMessage

/** Stands around the engine's actors and sees what must not be while it is. */
export class Watch {
  readonly #world: World
  readonly #scenario: Scenario
  /** Which lease each sandbox was ever given to. */
  readonly #book = new Map<SandboxId, LeaseId>()
  /** Something gave up on what it had to end: its timers may outlive it for as long as the wait is. */
  stopFailed = false

  constructor(world: World, scenario: Scenario) {
    this.#world = world
    this.#scenario = scenario
  }

  /** Tells the trace what an actor receives. */
  traced<State, Received extends Message>(actor: Actor<State, Received>): Actor<State, Received> {
    if (!this.#world.isTraced) return actor
    return {
      ...actor,
      receive: (state, message, context) => {
        this.#world.note(`  ${actor.name} ← ${describe(message)}`)
        return actor.receive(state, message, context)
      },
    }
  }

  /** Looks into the pool's books after each thing that happens to it. */
  pool(actor: Actor<SandboxPoolState, PoolMessage>): Actor<SandboxPoolState, PoolMessage> {
    const { onSignal } = actor
    const checked = (state: SandboxPoolState) => {
      this.#checkPool(state)
      return state
    }
    return {
      ...actor,
      receive: (state, message, context) => checked(actor.receive(state, message, context)),
      ...(onSignal === undefined
        ? {}
        : { onSignal: (state, signal, context) => checked(onSignal(state, signal, context)) }),
    }
  }

  failed({ address, error, directive }: Failure): void {
    const { failedWrites, failedLoads } = this.#scenario.rollouts
    this.#world.note(`${address} failed (${directive}): ${error.message}`)
    if (directive === 'stop-failed') {
      this.stopFailed = true
      return
    }
    // A group that cannot write its runs or load its agent fails as a whole, as it should.
    if (/\/group-[^/]*$/.test(address) && failedWrites + failedLoads > 0) return
    this.#world.violate(`${address} failed (${directive}): ${error.message}`)
  }

  deadLetter({ address, reason, message }: DeadLetter): void {
    this.#world.note(`dead letter to ${address}: ${reason}`)
    // These outlive all that talks to them.
    if (/^main\/(collector|supervisor)/.test(address))
      this.#world.violate(`a message to ${address} was lost (${reason}): ${describe(message)}`)
  }

  #checkPool({ pool }: SandboxPoolState): void {
    const { maxConcurrent, size, pool: limits } = this.#scenario
    pool.ledger.check()
    for (const [leaseId, id] of pool.leases) {
      const before = this.#book.get(id)
      if (before === undefined) this.#book.set(id, leaseId)
      else if (before !== leaseId) this.#world.violate(`${id} was given to ${before} and to ${leaseId}`)
    }
    if (pool.ledger.size > limits.maxSandboxes)
      this.#world.violate(`the pool holds ${pool.ledger.size} sandboxes, and ${limits.maxSandboxes} may be`)
    const wanted = pool.leases.size + pool.queue.size
    // Groups are not split, so that the last may go over.
    if (wanted > maxConcurrent - 1 + size)
      this.#world.violate(`${wanted} rollouts are in flight where ${maxConcurrent} may be`)
  }
}

function describe(message: unknown): string {
  const whom = ['id', 'leaseId', 'groupId', 'node'].map(key => read(message, key)).find(value => value !== undefined)
  return [read(message, 'type'), whom, read(read(message, 'plan'), 'groupId'), read(read(message, 'header'), 'runId')]
    .filter(part => part !== undefined)
    .join(' ')
}

function read(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
