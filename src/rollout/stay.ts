import type { Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { LeaseId, SandboxId } from '../ids.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import type { Address } from '../wire/address.ts'
import type { ControlClient, ControlSession } from '../wire/session.ts'
import type { Shell } from '../wire/shell.ts'
import { rolloutCancelled } from './errors.ts'

/** A sandbox on loan to one rollout. */
export interface Leased {
  readonly leaseId: LeaseId
  readonly sandboxId: SandboxId
  readonly address: Address
  readonly sessionId: string | undefined
  readonly kind: LeaseKind
}

/** How one sandbox is asked for and given back. */
export interface LeasePorts {
  /**
   * Rejects with tagged data; `transient` where a later attempt may get one. `onLost` is called at most once, if whoever gave the sandbox hears that it
   * has died before it is given back.
   */
  lease(deadlineMs: number, onLost: (why: ErrorData) => void): Promise<Leased>
  /** Why the leased sandbox was lost, where anybody knows. Asked only when it was, and before it is given back; bounded. May reject. */
  whyLost(): Promise<ErrorData | undefined>
  /** Gives the lease back, or withdraws the request that is still waiting. Never throws. */
  release(sessionEnded: boolean): void
}

/** What every stay of a rollout is made with. */
export interface StayPorts {
  readonly clock: Clock
  readonly client: ControlClient
  openShell(session: ControlSession, signal: AbortSignal, traceparent?: string): Promise<Shell>
}

/** One sandbox for as long as a rollout holds it: the lease, the session in it, and the goodbye. */
export class Stay {
  leased: Leased | undefined
  session: ControlSession | undefined
  /** What was told of the sandbox's end. */
  told: ErrorData | undefined
  #shell: Promise<Shell> | undefined
  #isOver = false
  readonly #lease: LeasePorts
  readonly #ports: StayPorts
  readonly #onLost: () => void

  /** `onLost` is called when the sandbox is told to have died, `told` being set. */
  constructor(lease: LeasePorts, ports: StayPorts, onLost: () => void) {
    this.#lease = lease
    this.#ports = ports
    this.#onLost = onLost
  }

  /** A sandbox that comes when nobody waits any more has been given back already. */
  async take(deadlineMs: number): Promise<void> {
    const leased = await this.#lease.lease(deadlineMs, why => {
      this.told = why
      // One that dies while it is given back has done what it was for.
      if (!this.#isOver) this.#onLost()
    })
    if (this.#isOver) throw rolloutCancelled()
    this.leased = leased
  }

  /** Opens the session, once there is a sandbox. */
  async connect(deadlineMs: number, signal: AbortSignal, traceparent?: string): Promise<ControlSession> {
    const { leased } = this
    if (leased === undefined) throw rolloutCancelled()
    const { address, sessionId } = leased
    const session = await this.#ports.client.connect(address, {
      clock: this.#ports.clock,
      deadlineMs,
      signal,
      ephemeral: true,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(traceparent === undefined ? {} : { traceparent }),
    })
    if (this.#isOver) {
      session.abort()
      throw rolloutCancelled()
    }
    this.session = session
    return session
  }

  openShell(session: ControlSession, signal: AbortSignal, traceparent?: string): Promise<Shell> {
    this.#shell ??= this.#ports.openShell(session, signal, traceparent)
    return this.#shell
  }

  /** The rollout itself only sees that its sandbox answers no more: whoever runs it may know why. Never rejects. */
  async whyLost(): Promise<ErrorData | undefined> {
    if (this.leased === undefined) return undefined
    // Whoever does not answer knows nothing.
    return this.told ?? (await this.#lease.whyLost().catch(() => undefined))
  }

  /**
   * Reverse order of opening, bounded by `within`; what will not go is the pool's to destroy. Never rejects, and twice is once.
   */
  async leave(within: (goodbye: () => Promise<boolean>) => Promise<boolean>): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    const { session } = this
    // What is gone says no goodbye.
    if (this.told !== undefined) session?.abort()
    let ended = false
    try {
      ended = await within(async () => {
        if (this.#shell !== undefined) await this.#shell.then(shell => shell.close()).catch(ignoreDeadShell)
        return session === undefined ? false : await session.end()
      })
    } catch {
      // The deadline passed: the session is cut, and the pool is told that nobody saw its goodbye.
      session?.abort()
    }
    this.#lease.release(ended)
  }
}

/** A shell that never opened, or whose road is gone, has nothing to close; its error was the agent's to see. */
function ignoreDeadShell(): void {}
