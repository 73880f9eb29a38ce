import { type Clock, systemClock } from '../clock.ts'
import { hasTag } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import { noteSecret } from '../redact.ts'
import { type Address, formatAddress, type ListenAddress } from '../wire/address.ts'
import type { TroupeControlClient } from '../wire/client.ts'
import { badAddress, nobodyServes, runtimeClosed } from './errors.ts'
import { makeLateClient } from './late-client.ts'
import { endParked, openParked } from './lease-session.ts'
import type { ProvisionRequest, Runtime, Sandbox } from './runtime.ts'

export interface UrlRuntimeOptions {
  /** What the server there wants to be shown, where it wants a token. */
  readonly token?: string
  /** For the one `hello` of the preflight. Default 5,000. */
  readonly connectDeadlineMs?: number
  readonly clock?: Clock
}

/** An environment that somebody else serves: borrowed, and never torn down. Each sandbox is a session there. */
export class UrlRuntime implements Runtime {
  readonly name = 'url'
  readonly address: Address
  readonly #options: UrlRuntimeOptions
  readonly #clock: Clock
  readonly #client: TroupeControlClient = makeLateClient()
  readonly #live = new Map<SandboxId, Readonly<Record<string, string>>>()
  #closed = false

  /** Throws `bad-address` for what is not `tcp://host:port` or `host:port`. */
  constructor(url: string, options: UrlRuntimeOptions = {}) {
    const { token } = options
    noteSecret(token)
    this.address = { ...parseTcpAddress(url), ...(token === undefined ? {} : { token }) }
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async preflight(): Promise<void> {
    const deadlineMs = this.#options.connectDeadlineMs ?? 5_000
    try {
      const session = await this.#client.connect(this.address, { clock: this.#clock, deadlineMs, ephemeral: true })
      await session.end()
    } catch (error) {
      if (hasTag(error, 'token-refused')) throw error
      throw nobodyServes(formatAddress(this.address), error)
    }
  }

  async provision({ id, labels, prewarm, signal }: ProvisionRequest): Promise<Sandbox> {
    signal.throwIfAborted()
    if (this.#closed) throw runtimeClosed(this.name)
    const sessionId = prewarm ? await openParked(this.#client, this.address, signal, this.#clock) : undefined
    this.#live.set(id, labels)
    return {
      id,
      address: this.address,
      sessionId,
      labels,
      dispose: async ({ sessionEnded }) => {
        if (!sessionEnded && this.#live.has(id)) await endParked(this.#client, this.address, sessionId)
        this.#live.delete(id)
      },
    }
  }

  async list() {
    return [...this.#live].map(([id, labels]) => ({ id, labels }))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#client.close()
    this.#live.clear()
  }
}

function parseTcpAddress(text: string): ListenAddress {
  const match = /^(?:tcp:\/\/)?(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || !(port >= 1 && port <= 65_535)) throw badAddress(text)
  return { kind: 'tcp', host, port }
}
