import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../clock.ts'
import { markOwned, removeAbandoned } from '../environment/owned-directory.ts'
import { removeDirectory } from '../environment/workspace/base-directory.ts'
import type { ErrorData } from '../errors.ts'
import type { Address } from '../wire/address.ts'
import { restartLimit, runtimeClosed, serveLost, socketPathTooLong } from './errors.ts'
import { minimalVariables } from './minimal-variables.ts'
import { type ServeProcess, startServing } from './serve-process.ts'

export interface HostOptions {
  readonly environmentPath: string
  readonly clock: Clock
  readonly transport: 'unix' | 'tcp'
  readonly program?: string
  /** Passed on to the host as they are. */
  readonly flags: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  readonly startDeadlineMs: number
  readonly restarts: number
}

/** An environment host process that serves, or served. */
export interface LocalHost {
  readonly address: Address
  readonly alive: boolean
  /** Ends the process, and removes all that it and its sessions left on disk. */
  stop(): Promise<void>
}

const ownProgram = fileURLToPath(new URL('../environment/serve-main.js', import.meta.url))
/** What `sockaddr_un` takes, less its final zero. */
const MAX_SOCKET_PATH_BYTES = 107
const STOP_GRACE_MS = 5_000
/** Directories of hosts, in the system's temporary directory. */
const PREFIX = 'troupe-local-'

/** See `makeHostKeeper`. */
export interface HostKeeper {
  /** Rejects when it is closed, and when hosts have died too often. */
  get(): Promise<LocalHost>
  /** Ends the host, and waits until what others left is removed. */
  close(): Promise<void>
}

/**
 * Keeps one host running for as long as one is asked for. Askers at the same time share the start; a host that died is replaced at the next request, a
 * bounded number of times. `onLost` is told of each that died on its own.
 */
export function makeHostKeeper(options: HostOptions, onLost: (host: LocalHost, error: ErrorData) => void): HostKeeper {
  let current: Promise<LocalHost> | undefined
  let deaths = 0
  let closed = false
  const cleaning = new Set<Promise<void>>()

  async function start(): Promise<LocalHost> {
    const { host, exited } = await startHost(options)
    exited.then(end => {
      if (closed) return
      deaths += 1
      lastError = serveLost(`the environment host of ${options.environmentPath}`, end)
      current = undefined
      clean(host)
      onLost(host, lastError)
    })
    return host
  }
  let lastError: ErrorData | undefined

  function clean(host: LocalHost): void {
    const stopping = host.stop()
    cleaning.add(stopping)
    // `close` waits for it too, and is who tells of a failure.
    stopping.then(
      () => cleaning.delete(stopping),
      () => undefined,
    )
  }

  return {
    get(): Promise<LocalHost> {
      if (closed) return Promise.reject(runtimeClosed('local'))
      if (current !== undefined) return current
      if (deaths > options.restarts && lastError !== undefined)
        return Promise.reject(restartLimit(options.environmentPath, deaths, lastError))
      const starting = start()
      current = starting
      // A start that failed is tried again by the next asker.
      starting.catch(() => {
        if (current === starting) current = undefined
      })
      return starting
    },
    async close(): Promise<void> {
      closed = true
      // A start that failed has cleaned up after itself.
      const host = await current?.catch(() => undefined)
      await host?.stop()
      await Promise.all(cleaning)
    },
  }
}

async function startHost(options: HostOptions): Promise<{ host: LocalHost; exited: ServeProcess['exited'] }> {
  await removeAbandoned(tmpdir(), PREFIX)
  const base = await mkdtemp(join(tmpdir(), PREFIX))
  const remove = () => removeDirectory(base)
  try {
    markOwned(base, options.clock.wallTime())
    const serving = await startServing({
      argv: [process.execPath, options.program ?? ownProgram, ...(await toArguments(options, base))],
      title: `the environment host of ${options.environmentPath}`,
      env: { ...minimalVariables(), ...options.variables },
      clock: options.clock,
      startDeadlineMs: options.startDeadlineMs,
      stopGraceMs: STOP_GRACE_MS,
      guarded: true,
    })
    let alive = true
    serving.exited.then(() => {
      alive = false
    })
    const host: LocalHost = {
      address: serving.address,
      get alive() {
        return alive
      },
      async stop() {
        await serving.stop()
        await remove()
      },
    }
    return { host, exited: serving.exited }
  } catch (error) {
    await remove()
    throw error
  }
}

async function toArguments(options: HostOptions, base: string): Promise<readonly string[]> {
  const workspaces = join(base, 'workspaces')
  const control = join(base, 'control')
  // Sessions may run as users of their own, who must be able to pass through to their workspaces, and to nothing else.
  await chmod(base, 0o711)
  await mkdir(workspaces, { mode: 0o711 })
  await mkdir(control, { mode: 0o700 })
  const socket = join(control, 'host.sock')
  if (options.transport === 'unix' && Buffer.byteLength(socket) > MAX_SOCKET_PATH_BYTES) throw socketPathTooLong(socket)
  return [
    options.environmentPath,
    ...(options.transport === 'unix' ? ['--socket', socket] : ['--port', '0']),
    '--exit-with-parent',
    // Removed by whoever comes to its end: the host where this process is killed, this process where the host is.
    '--own-directory',
    base,
    '--base-directory',
    workspaces,
    ...options.flags,
  ]
}
