import { type Clock, systemClock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import { randomIds, type SandboxId, toSandboxId } from '../ids.ts'
import type { TroupeControlClient } from '../wire/client.ts'
import { provisionCancelled, runtimeClosed } from './errors.ts'
import { makeLateClient } from './late-client.ts'
import { endParked, openParked } from './lease-session.ts'
import type { ProvisionPlan, ProvisionRequest, Runtime, Sandbox } from './runtime.ts'

interface Live {
  readonly substrate: Sandbox
  readonly labels: Readonly<Record<string, string>>
  readonly onLost: ProvisionRequest['onLost']
}

/**
 * Sessions on one sandbox of another runtime, `leases` of them at once; the next waits for a place. For environments whose start is dear and whose
 * sessions do not touch each other. The substrate is made with the first lease and kept until `close`, or until it dies. What is about many sandboxes of the
 * inner runtime (forks, pools, its limit on creates) is not passed on: there is one.
 */
export class SharedRuntime implements Runtime {
  readonly name: string
  /** Absent, as the other one, where the inner runtime has none. */
  readonly checkTasks?: NonNullable<Runtime['checkTasks']>
  readonly diagnose?: NonNullable<Runtime['diagnose']>
  readonly #inner: Runtime
  readonly #clock: Clock
  readonly #client: TroupeControlClient = makeLateClient()
  readonly #live = new Map<SandboxId, Live>()
  readonly #waiting = new Set<() => void>()
  readonly #closing = new AbortController()
  #places: number
  #substrate: Promise<Sandbox> | undefined

  constructor(inner: Runtime, leases: number, clock: Clock = systemClock) {
    if (!Number.isInteger(leases) || leases < 1)
      throw new RangeError(`leases is ${leases}; it must be a whole number from 1 on`)
    this.name = `shared-${inner.name}`
    this.#inner = inner
    this.#places = leases
    this.#clock = clock
    const { checkTasks, diagnose } = inner
    if (checkTasks !== undefined) this.checkTasks = tasks => checkTasks.call(inner, tasks)
    if (diagnose !== undefined)
      this.diagnose = async id => {
        const substrate = this.#live.get(id)?.substrate
        return substrate === undefined ? undefined : diagnose.call(inner, substrate.id)
      }
  }

  /** However many leases are planned, they need one sandbox of the inner runtime, which is never claimed from a pool. */
  preflight(plan?: ProvisionPlan): Promise<void> {
    return this.#inner.preflight(plan === undefined ? undefined : { ...plan, sandboxes: 1, providerPool: false })
  }

  async provision({ id, labels, onLost, prewarm, ...request }: ProvisionRequest): Promise<Sandbox> {
    const signal = AbortSignal.any([request.signal, this.#closing.signal])
    await this.#takePlace(id, signal)
    try {
      const substrate = await this.#share(labels)
      if (signal.aborted) throw provisionCancelled(id, signal.reason)
      const { address } = substrate
      const sessionId = prewarm ? await openParked(this.#client, address, signal, this.#clock) : undefined
      this.#live.set(id, { substrate, labels, onLost })
      const dispose: Sandbox['dispose'] = async ({ sessionEnded }) => {
        const live = this.#live.get(id)
        if (live === undefined) return
        if (!sessionEnded && (await this.#isCurrent(live.substrate))) await endParked(this.#client, address, sessionId)
        if (this.#live.delete(id)) this.#givePlace()
      }
      return { id, address, sessionId, labels, dispose }
    } catch (error) {
      this.#givePlace()
      throw error
    }
  }

  async list() {
    return [...this.#live].map(([id, { labels }]) => ({ id, labels }))
  }

  async close(): Promise<void> {
    this.#closing.abort(runtimeClosed(this.name))
    await this.#client.close()
    // A substrate that never came has left nothing behind.
    const substrate = await this.#substrate?.catch(() => undefined)
    await substrate?.dispose({ sessionEnded: false })
    this.#live.clear()
    await this.#inner.close()
  }

  /** The one substrate: made by the first who asks, shared by who asks meanwhile. */
  #share(labels: Readonly<Record<string, string>>): Promise<Sandbox> {
    if (this.#substrate !== undefined) return this.#substrate
    const making = this.#inner.provision({
      id: toSandboxId(`substrate-${randomIds.hex(6)}`),
      task: undefined,
      labels,
      prewarm: false,
      // Nobody's alone: it is called off only when the runtime closes.
      signal: this.#closing.signal,
      onLost: error => this.#lost(making, error),
    })
    this.#substrate = making
    making.catch(() => this.#forget(making))
    return making
  }

  async #lost(making: Promise<Sandbox>, error: ErrorData): Promise<void> {
    this.#forget(making)
    const substrate = await making
    for (const live of [...this.#live.values()]) if (live.substrate === substrate) live.onLost?.(error)
    await substrate.dispose({ sessionEnded: false })
  }

  #forget(making: Promise<Sandbox>): void {
    if (this.#substrate === making) this.#substrate = undefined
  }

  async #isCurrent(substrate: Sandbox): Promise<boolean> {
    // One that is being made, or failed to be, is another one.
    return (await this.#substrate?.catch(() => undefined)) === substrate
  }

  async #takePlace(id: SandboxId, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw provisionCancelled(id, signal.reason)
    if (this.#places > 0) {
      this.#places -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(enter)
        reject(provisionCancelled(id, signal.reason))
      }
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #givePlace(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#places += 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
