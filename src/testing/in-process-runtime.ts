import type { Clock } from '../clock.ts'
import { checkTasks } from '../environment/check-task.ts'
import type { Environment } from '../environment/environment.ts'
import { serveEnvironment } from '../environment/serve-environment.ts'
import { serveControl } from '../environment/server.ts'
import { makeWorkspaceHost } from '../environment/workspace/index.ts'
import { DEFAULT_LIMITS } from '../environment/workspace/limits.ts'
import type { IsolationOptions, WorkspaceHost } from '../environment/workspace.ts'
import type { ErrorData } from '../errors.ts'
import { randomIds } from '../ids.ts'
import { runtimeClosed } from '../runtimes/errors.ts'
import type { ProvisionRequest, Runtime, Sandbox } from '../runtimes/runtime.ts'
import { UrlRuntime } from '../runtimes/url.ts'
import type { Task } from '../taskset/task.ts'

/** How an environment is served in the process of a test. */
export interface InProcessRuntimeOptions {
  /** `none`: commands of agents and graders run as this user with nothing between them and the machine. Default: what the environment says, else `bwrap`. */
  readonly isolation?: IsolationOptions['isolation']
  /** Of the environment and its server. Default the system's. */
  readonly clock?: Clock
  /** Told of what no caller can be told: a teardown that failed. Default: as everywhere, the channel `troupe:environment` or a process warning. */
  readonly onError?: (error: ErrorData) => void
}

interface Serving {
  readonly sessions: UrlRuntime
  close(): Promise<void>
}

/**
 * Serves an environment that is at hand, in this process, on a port of loopback that the system chose and behind a token: a breakpoint in a template is hit,
 * and what it imports can be a double. For tests: a template that blocks the thread blocks the engine too.
 */
export class InProcessRuntime implements Runtime {
  readonly name = 'in-process'
  readonly #environment: Environment
  readonly #options: InProcessRuntimeOptions
  #serving: Promise<Serving> | undefined
  #closing: Promise<void> | undefined

  constructor(environment: Environment, options: InProcessRuntimeOptions = {}) {
    this.#environment = environment
    this.#options = options
  }

  /** Runs the environment's own checks and serves it; rejects with what they throw. */
  async preflight(): Promise<void> {
    await this.#serve()
  }

  async checkTasks(tasks: readonly Task[]): Promise<readonly string[]> {
    return checkTasks(this.#environment, tasks)
  }

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    return (await this.#serve()).sessions.provision(request)
  }

  async list() {
    return (await this.#serving)?.sessions.list() ?? []
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  #serve(): Promise<Serving> {
    if (this.#closing !== undefined) return Promise.reject(runtimeClosed(this.name))
    this.#serving ??= serve(this.#environment, this.#options).catch((error: unknown) => {
      // The next one looks again, once what was missing is there.
      this.#serving = undefined
      throw error
    })
    return this.#serving
  }

  async #end(): Promise<void> {
    // A start that failed has cleaned up after itself.
    const serving = await this.#serving?.catch(() => undefined)
    await serving?.close()
  }
}

async function serve(environment: Environment, options: InProcessRuntimeOptions): Promise<Serving> {
  const shared = {
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.onError === undefined ? {} : { onError: options.onError }),
  }
  for (const check of environment.hooks.checks) await check()
  const workspaces = makeWorkspaces(environment, options)
  const served = serveEnvironment(environment, workspaces, shared)
  try {
    await workspaces?.preflight()
    const token = randomIds.hex(16)
    const server = await serveControl(served, { ...shared, listen: { kind: 'tcp', host: '127.0.0.1', port: 0 }, token })
    const port = server.address.kind === 'tcp' ? server.address.port : 0
    const sessions = new UrlRuntime(`127.0.0.1:${port}`, { token })
    return {
      sessions,
      async close() {
        await sessions.close()
        await server.close()
        await served.close()
      },
    }
  } catch (error) {
    await served.close()
    throw error
  }
}

function makeWorkspaces(environment: Environment, options: InProcessRuntimeOptions): WorkspaceHost | undefined {
  const { workspace } = environment
  if (workspace === false) return undefined
  const { clock, isolation = workspace.isolation ?? 'bwrap', onError } = options
  return makeWorkspaceHost({
    ...workspace,
    isolation,
    limits: { ...DEFAULT_LIMITS, ...workspace.limits },
    ...(clock === undefined ? {} : { clock }),
    ...(onError === undefined ? {} : { onWeakened: onError }),
  })
}
