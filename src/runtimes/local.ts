import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import type { IsolationOptions } from '../environment/workspace.ts'
import type { SandboxId } from '../ids.ts'
import type { Task } from '../taskset/task.ts'
import type { TroupeControlClient } from '../wire/client.ts'
import { environmentMissing, provisionCancelled, runtimeClosed } from './errors.ts'
import { makeLateClient } from './late-client.ts'
import { endParked, openParked } from './lease-session.ts'
import type { HostKeeper, HostOptions, LocalHost } from './local-host.ts'
import type { ProvisionRequest, Runtime, Sandbox } from './runtime.ts'

export interface LocalRuntimeOptions {
  /** Default `bwrap`; `none` only where the user said that commands may touch the machine. */
  readonly isolation?: IsolationOptions['isolation']
  /** Whether commands reach the network. Default no. */
  readonly network?: boolean
  /** Limits of one session's processes; the host has a default for each. */
  readonly limits?: Partial<IsolationOptions['limits']>
  /** Commands that run at once in the whole host. Default: the host's. */
  readonly maxCommands?: number
  /** Default `unix`. */
  readonly transport?: 'unix' | 'tcp'
  /** Whether the sessions that the runtime itself opens ahead share a connection. Rollouts follow the engine's `connections`. Default `multiplexed`. */
  readonly sessions?: 'multiplexed' | 'each'
  /** Which environment, when the file exports more than one. */
  readonly env?: string
  /** Variables for the host beside PATH, HOME and LANG; it inherits no others, so none of this process's secrets. */
  readonly variables?: Readonly<Record<string, string>>
  /** Where the host sends spans of what rollouts ask of it: OTLP over HTTP. They are drawn for jobs that `createTraces` draws. Default: none are. */
  readonly traces?: string
  /** For the host to serve. Default 30,000. */
  readonly startDeadlineMs?: number
  /** Hosts started again after one died, before the runtime gives up. Default 3. */
  readonly restarts?: number
  readonly clock?: Clock
  /** The host's program, for tests. Default: the one that comes with this package. */
  readonly hostProgram?: string
}

interface Live {
  readonly host: LocalHost
  readonly labels: Readonly<Record<string, string>>
  readonly onLost: ProvisionRequest['onLost']
}

/**
 * One environment host process on this machine serves every sandbox: each is a session with a workspace of its own. The host starts with the first
 * of them; when it dies, its sandboxes are lost and the next one starts another.
 */
export class LocalRuntime implements Runtime {
  readonly name = 'local'
  readonly environmentPath: string
  readonly #env: string | undefined
  readonly #clock: Clock
  readonly #client: TroupeControlClient
  readonly #options: HostOptions
  #hosts: Promise<HostKeeper> | undefined
  readonly #live = new Map<SandboxId, Live>()
  #closing: Promise<void> | undefined

  constructor(environmentPath: string, options: LocalRuntimeOptions = {}) {
    this.environmentPath = resolve(environmentPath)
    this.#env = options.env
    this.#clock = options.clock ?? systemClock
    this.#client = makeLateClient({ multiplex: options.sessions === 'each' ? 'never' : 'auto' })
    this.#options = toHostOptions(this.environmentPath, this.#clock, options)
  }

  /** Starts the host, which checks python, bubblewrap and the environment itself; it costs nothing and is needed next. */
  async preflight(): Promise<void> {
    try {
      await access(this.environmentPath, constants.R_OK)
    } catch (error) {
      throw environmentMissing(this.environmentPath, error)
    }
    await this.#host()
  }

  /** Asks the environment's own schemas. Loads its source into this process, as a tasks file in TypeScript does. */
  async checkTasks(tasks: readonly Task[]): Promise<readonly string[]> {
    const { loadEnvironment } = await import('../environment/load.ts')
    const { checkTasks } = await import('../environment/check-task.ts')
    return checkTasks(await loadEnvironment(this.environmentPath, this.#env), tasks)
  }

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    const { id, labels, onLost, prewarm } = request
    const host = await this.#host()
    // A cold one is made at once and costs nothing: there is nothing to call off, so the signal is not even looked at.
    const sessionId = prewarm ? await this.#openParked(host, request) : undefined
    this.#live.set(id, { host, labels, onLost })
    return {
      id,
      address: host.address,
      sessionId,
      labels,
      dispose: async ({ sessionEnded }) => {
        // A session that its rollout opened ends with the rollout's connection; one that waits here must be ended here.
        if (!sessionEnded && host.alive && this.#live.has(id)) await endParked(this.#client, host.address, sessionId)
        this.#live.delete(id)
      },
    }
  }

  async list() {
    return [...this.#live].filter(([, { host }]) => host.alive).map(([id, { labels }]) => ({ id, labels }))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#client.close()
    await (await this.#hosts)?.close()
    this.#live.clear()
  }

  async #openParked(host: LocalHost, { id, signal }: ProvisionRequest): Promise<string | undefined> {
    if (signal.aborted) throw provisionCancelled(id, signal.reason)
    return openParked(this.#client, host.address, signal, this.#clock)
  }

  async #host(): Promise<LocalHost> {
    if (this.#closing !== undefined) throw runtimeClosed(this.name)
    this.#hosts ??= this.#makeHosts()
    return (await this.#hosts).get()
  }

  async #makeHosts(): Promise<HostKeeper> {
    const { makeHostKeeper } = await import('./local-host.ts')
    return makeHostKeeper(this.#options, (host, error) => {
      for (const live of [...this.#live.values()]) if (live.host === host) live.onLost?.(error)
    })
  }
}

function toHostOptions(environmentPath: string, clock: Clock, options: LocalRuntimeOptions): HostOptions {
  const { limits = {}, maxCommands, env } = options
  const flag = (name: string, value: string | number | undefined) => (value === undefined ? [] : [name, String(value)])
  return {
    environmentPath,
    clock,
    transport: options.transport ?? 'unix',
    ...(options.hostProgram === undefined ? {} : { program: options.hostProgram }),
    variables: options.variables ?? {},
    startDeadlineMs: options.startDeadlineMs ?? 30_000,
    restarts: options.restarts ?? 3,
    flags: [
      ...flag('--isolation', options.isolation ?? 'bwrap'),
      ...(options.network === true ? ['--network'] : []),
      ...flag('--cpu-seconds', limits.cpuSeconds),
      ...flag('--memory-bytes', limits.memoryBytes),
      ...flag('--processes', limits.processes),
      ...flag('--file-bytes', limits.fileBytes),
      ...flag('--disk-bytes', limits.diskBytes),
      ...flag('--max-commands', maxCommands),
      ...flag('--env', env),
      ...flag('--traces', options.traces),
    ],
  }
}
