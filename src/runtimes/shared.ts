import { type Clock, systemClock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import { randomIds, type SandboxId, toSandboxId } from '../ids.ts'
import type { Task } from '../taskset/task.ts'
import type { TroupeControlClient } from '../wire/client.ts'
import { provisionCancelled, runtimeClosed } from './errors.ts'
import { makeLateClient } from './late-client.ts'
import { endParked, openParked } from './lease-session.ts'
import { makePlaces } from './places.ts'
import type { ConfiguredTask, ProvisionPlan, ProvisionRequest, Runtime, Sandbox } from './runtime.ts'
import { makeSubstrate, type Substrate } from './substrate.ts'

interface Live {
  readonly at: Sandbox
  readonly labels: Readonly<Record<string, string>>
  readonly onLost: ProvisionRequest['onLost']
}

/**
 * Sessions on sandboxes of another runtime, `width` of them at once on each; the next waits for a place. For environments whose start is dear and whose
 * sessions do not touch each other. There is one such substrate for each kind of sandbox that tasks ask for: one for all rows without a `runtime_config`, one
 * for each different one, and one for each route of a routed runtime. It is made with the first lease of its kind and kept until `close`, until it dies, or
 * until its `run_timeout_s` has passed, whatever runs in it then; the next lease makes another. A start that fails fails the lease that asked for it, and
 * whoever waited tries in turn. What is about many sandboxes of the inner runtime (forks, pools, its limit on creates) is not passed on.
 */
export class SharedRuntime implements Runtime {
  readonly name: string
  readonly prewarms: boolean
  /** Absent, as the others, where the inner runtime has none. */
  readonly checkTasks?: NonNullable<Runtime['checkTasks']>
  readonly diagnose?: NonNullable<Runtime['diagnose']>
  readonly kindOf?: (task: Task) => string | undefined
  readonly configure?: (task: Task) => ConfiguredTask
  readonly #inner: Runtime
  readonly #width: number
  readonly #clock: Clock
  readonly #client: TroupeControlClient = makeLateClient()
  readonly #live = new Map<SandboxId, Live>()
  readonly #substrates = new Map<string, Substrate>()
  readonly #closing = new AbortController()

  constructor(inner: Runtime, width: number, clock: Clock = systemClock) {
    if (!Number.isInteger(width) || width < 1)
      throw new RangeError(`width is ${width}; it must be a whole number from 1 on`)
    this.name = `shared-${inner.name}`
    this.prewarms = inner.prewarms !== false
    this.#inner = inner
    this.#width = width
    this.#clock = clock
    const { checkTasks, diagnose, kindOf, configure } = inner
    if (checkTasks !== undefined) this.checkTasks = tasks => checkTasks.call(inner, tasks)
    if (kindOf !== undefined) this.kindOf = task => kindOf.call(inner, task)
    if (configure !== undefined) this.configure = task => configure.call(inner, task)
    if (diagnose !== undefined)
      this.diagnose = async id => {
        const at = this.#live.get(id)?.at
        return at === undefined ? undefined : diagnose.call(inner, at.id)
      }
  }

  /** However many leases are planned, they need one sandbox of the inner runtime for each kind of task, which is never claimed from a pool. */
  preflight(plan?: ProvisionPlan): Promise<void> {
    if (plan === undefined) return this.#inner.preflight()
    const kinds = new Set(plan.tasks?.map(task => this.#keyOf(task)))
    return this.#inner.preflight({ ...plan, sandboxes: Math.max(1, kinds.size), providerPool: false })
  }

  async provision({ id, labels, onLost, prewarm, task, ...request }: ProvisionRequest): Promise<Sandbox> {
    const signal = AbortSignal.any([request.signal, this.#closing.signal])
    const substrate = this.#substrateFor(task)
    const givePlace = await substrate.places
      .take(signal)
      .catch(reason => Promise.reject(provisionCancelled(id, reason)))
    try {
      const at = await substrate.get(labels, signal)
      if (signal.aborted) throw provisionCancelled(id, signal.reason)
      const { address } = at
      const sessionId = prewarm ? await openParked(this.#client, address, signal, this.#clock) : undefined
      this.#live.set(id, { at, labels, onLost })
      const dispose: Sandbox['dispose'] = async ({ sessionEnded }) => {
        const live = this.#live.get(id)
        if (live === undefined) return
        if (!sessionEnded && (await substrate.isCurrent(live.at))) await endParked(this.#client, address, sessionId)
        if (this.#live.delete(id)) givePlace()
      }
      return { id, address, sessionId, labels, dispose }
    } catch (error) {
      givePlace()
      throw signal.aborted ? provisionCancelled(id, signal.reason) : error
    }
  }

  async list() {
    return [...this.#live].map(([id, { labels }]) => ({ id, labels }))
  }

  async close(): Promise<void> {
    this.#closing.abort(runtimeClosed(this.name))
    await this.#client.close()
    const ends = await Promise.allSettled([...this.#substrates.values()].map(substrate => substrate.end()))
    this.#live.clear()
    await this.#inner.close()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  #keyOf(task: Task | undefined): string {
    return (task === undefined ? undefined : this.kindOf?.(task)) ?? ''
  }

  #substrateFor(task: Task | undefined): Substrate {
    const key = this.#keyOf(task)
    const known = this.#substrates.get(key)
    if (known !== undefined) return known
    const made = makeSubstrate({
      places: makePlaces(this.#width),
      // Of the task that asked first; another of its kind would have it made alike.
      make: (labels, onLost) =>
        this.#inner.provision({
          id: toSandboxId(`substrate-${randomIds.hex(6)}`),
          task,
          labels,
          prewarm: false,
          // Nobody's alone: it is called off only when the runtime closes.
          signal: this.#closing.signal,
          onLost,
        }),
      onLost: (at, error) => this.#lost(at, error),
    })
    this.#substrates.set(key, made)
    return made
  }

  #lost(at: Sandbox, error: ErrorData): void {
    for (const live of [...this.#live.values()]) if (live.at === at) live.onLost?.(error)
  }
}
