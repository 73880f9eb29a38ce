import type { Sandbox as SandboxDto } from '@daytona/api-client'
import type { Address } from '../../../wire/address.ts'
import type { Transport } from '../options.ts'
import type { ServeCommand } from './server.ts'

export interface OpenRequest {
  /** The provider's own id, known as soon as the create is answered. */
  readonly id: string
  /** Resolves when it has started; what rejects it rejects `open`. Bounded by whoever made it. */
  readonly sandbox: Promise<SandboxDto>
  /** Undefined for a fork: the server runs already. */
  readonly serve: ServeCommand | undefined
  /** True: come back with a parked session. */
  readonly prewarm: boolean
  readonly signal: AbortSignal
  /** From the sandbox's start to the answered `hello`. */
  readonly deadlineMs: number
}

/** An environment that has answered. */
export interface Reached {
  readonly address: Address
  /** Over which it was reached. */
  readonly transport: Transport
  /** Of the parked session, where it was asked for and the peer is ours. */
  readonly sessionId: string | undefined
  /** The last 4 KiB of what the server wrote; empty when that cannot be had. Takes 5 s at most; never rejects. */
  output(): Promise<string>
  /**
   * Cuts every connection and gives up what the way here holds. Unless the sandbox is about to end, its token is revoked, too. Bounded; never rejects; twice
   * is once.
   */
  close(options?: { readonly sandboxEnds?: boolean }): Promise<void>
}
