import type { Sandbox as SandboxDto } from '@daytona/api-client'
import type { Address } from '../../../wire/address.ts'
import type { Transport } from '../options.ts'

/** A sandbox that is to be reached. */
export interface Target {
  readonly id: string
  /** Resolves when it has started; nothing can be connected to before. */
  readonly started: Promise<SandboxDto>
  /** Aborts when it is not to be reached any more. What is open by then is closed by `close`. */
  readonly signal: AbortSignal
}

/** One way into one sandbox. What it asks of the provider is asked at once, while the sandbox still starts. */
export interface Route {
  readonly transport: Transport
  /** Where to dial, once the sandbox has started. Rejects when there is no such way. */
  readonly address: Promise<Address>
  /** What the last connection over it failed with, where that is known. */
  trouble(): string | undefined
  /** Gives up all that the way holds here. `revoke` has the provider forget it, too: for sandboxes that live on. Bounded; never rejects. */
  close(revoke: boolean): Promise<void>
}
