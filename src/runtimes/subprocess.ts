import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import type { SandboxId } from '../ids.ts'
import type { TroupeControlClient } from '../wire/client.ts'
import { runtimeClosed, serveLost, serveNotFound } from './errors.ts'
import { makeLateClient } from './late-client.ts'
import { openParked } from './lease-session.ts'
import { leashed } from './leash.ts'
import { minimalVariables } from './minimal-variables.ts'
import type { ProvisionRequest, Runtime, Sandbox } from './runtime.ts'
import type { ServeProcess } from './serve-process.ts'

export interface SubprocessRuntimeOptions {
  readonly cwd?: string
  /** Variables beside PATH, HOME, LANG and TMPDIR; the process inherits no others. */
  readonly variables?: Readonly<Record<string, string>>
  /** Until the process prints its port. Default 60,000. */
  readonly startDeadlineMs?: number
  /** Between SIGTERM and SIGKILL. Default 5,000. */
  readonly stopGraceMs?: number
  readonly clock?: Clock
}

interface Live {
  readonly serving: ServeProcess
  readonly labels: Readonly<Record<string, string>>
}

/**
 * One process for each sandbox: any command that serves the control channel and prints `HUD_SERVE_PORT=<port>`, such as
 * `python -m hud.environment.server env.py --port 0`. It ends with this process, however that ends.
 */
export class SubprocessRuntime implements Runtime {
  readonly name = 'subprocess'
  readonly #argv: readonly [string, ...string[]]
  readonly #options: SubprocessRuntimeOptions
  readonly #clock: Clock
  readonly #client: TroupeControlClient = makeLateClient()
  readonly #live = new Map<SandboxId, Live>()
  readonly #starting = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(argv: readonly [string, ...string[]], options: SubprocessRuntimeOptions = {}) {
    this.#argv = argv
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async preflight(): Promise<void> {
    const [program] = this.#argv
    const places = program.includes('/') ? [''] : (this.#variables().PATH?.split(delimiter) ?? [])
    const found = await Promise.allSettled(places.map(place => access(join(place, program), constants.X_OK)))
    if (!found.some(({ status }) => status === 'fulfilled')) throw serveNotFound(program, undefined)
  }

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    if (this.#closing.signal.aborted) throw runtimeClosed(this.name)
    const making = this.#make({ ...request, signal: AbortSignal.any([request.signal, this.#closing.signal]) })
    this.#starting.add(making)
    try {
      return await making
    } finally {
      this.#starting.delete(making)
    }
  }

  async #make({ id, labels, onLost, prewarm, signal }: ProvisionRequest): Promise<Sandbox> {
    const { startServing } = await import('./serve-process.ts')
    const serving = await startServing({
      argv: leashed(this.#argv),
      title: this.#argv.join(' '),
      env: this.#variables(),
      clock: this.#clock,
      startDeadlineMs: this.#options.startDeadlineMs ?? 60_000,
      stopGraceMs: this.#options.stopGraceMs ?? 5_000,
      signal,
      ...(this.#options.cwd === undefined ? {} : { cwd: this.#options.cwd }),
    })
    let sessionId: string | undefined
    try {
      sessionId = prewarm ? await openParked(this.#client, serving.address, signal, this.#clock) : undefined
    } catch (error) {
      await serving.stop()
      throw error
    }
    this.#live.set(id, { serving, labels })
    serving.exited.then(end => {
      if (this.#live.get(id)?.serving === serving && !disposing) onLost?.(serveLost(this.#argv.join(' '), end))
    })
    let disposing = false
    return {
      id,
      address: serving.address,
      sessionId,
      labels,
      dispose: async () => {
        disposing = true
        await serving.stop()
        this.#live.delete(id)
      },
    }
  }

  async list() {
    return [...this.#live].map(([id, { labels }]) => ({ id, labels }))
  }

  async close(): Promise<void> {
    this.#closing.abort(runtimeClosed(this.name))
    await Promise.allSettled(this.#starting)
    await this.#client.close()
    const stopped = await Promise.allSettled([...this.#live.values()].map(({ serving }) => serving.stop()))
    for (const result of stopped) if (result.status === 'rejected') throw result.reason
    this.#live.clear()
  }

  #variables(): Readonly<Record<string, string>> {
    return { ...minimalVariables(), ...this.#options.variables }
  }
}
