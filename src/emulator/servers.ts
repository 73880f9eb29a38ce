import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../clock.ts'
import { markOwned, removeAbandoned } from '../environment/owned-directory.ts'
import { removeDirectory } from '../environment/workspace/base-directory.ts'
import { minimalVariables } from '../runtimes/minimal-variables.ts'
import { type ServeProcess, startServing } from '../runtimes/serve-process.ts'
import { makeControlClient } from '../wire/client.ts'
import { refused } from './errors.ts'

/** What a sandbox was told to serve. */
export interface ServeRequest {
  readonly environmentPath: string
  readonly env: string | undefined
  /** As the sandbox's own. */
  readonly port: number
}

export interface Served {
  /** A connection to the server. */
  connect(): Socket
  /** Resolves when it ended on its own. */
  readonly exited: Promise<unknown>
  /** Of its process. */
  readonly pid: number
  /** Ends what these control sessions left in the server, and the server itself when it is the sandbox's own. */
  release(sessionIds: Iterable<string>): Promise<void>
}

export interface ServersOptions {
  /** `shared`: one process serves all sandboxes that serve the same environment, as many sessions; `each`: a process for each. */
  readonly servers: 'shared' | 'each'
  /** Where commands like `troupe serve environments/calc/env.ts` find their files. */
  readonly directory: string
  /** Served whatever file a command names. */
  readonly environmentPath?: string | undefined
  readonly program?: string | undefined
  /** Aborts when all servers are about to end. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

const START_DEADLINE_MS = 60_000
const STOP_GRACE_MS = 5_000
/** Directories of servers, in the system's temporary directory. */
const PREFIX = 'troupe-emulator-'
const END_SESSION_MS = 5_000
const DEFAULT_PORT = 8_765
const IMAGE_DIRECTORY = '/app/'
const ownProgram = fileURLToPath(new URL('../environment/serve-main.js', import.meta.url))

/** Local environment servers in the place of those that images bring along. */
export function makeServers(options: ServersOptions) {
  const clock = options.clock ?? systemClock
  const shared = new Map<string, Promise<Running>>()
  const running = new Set<Promise<Running>>()
  const client = makeControlClient({ multiplex: 'never' })

  /** What dies with a sandbox elsewhere, tasks in progress and their files, is ended here by name. */
  async function endSessions({ address }: ServeProcess, sessionIds: Iterable<string>): Promise<void> {
    if (options.signal?.aborted) return
    await Promise.all([...sessionIds].map(id => client.endSession(address, id, END_SESSION_MS)))
  }

  async function start({ environmentPath, env }: ServeRequest): Promise<Running> {
    await removeAbandoned(tmpdir(), PREFIX)
    const base = await mkdtemp(join(tmpdir(), PREFIX))
    try {
      markOwned(base, clock.wallTime())
      await chmod(base, 0o711)
      const workspaces = join(base, 'workspaces')
      await mkdir(workspaces, { mode: 0o711 })
      const process_ = await startServing({
        argv: [
          process.execPath,
          options.program ?? ownProgram,
          environmentPath,
          ...['--port', '0', '--exit-with-parent', '--own-directory', base, '--base-directory', workspaces],
          ...(env === undefined ? [] : ['--env', env]),
        ],
        title: `the server of ${environmentPath}`,
        env: minimalVariables(),
        clock,
        startDeadlineMs: START_DEADLINE_MS,
        stopGraceMs: STOP_GRACE_MS,
        guarded: true,
      })
      return { process: process_, remove: () => removeDirectory(base) }
    } catch (error) {
      await removeDirectory(base)
      throw error
    }
  }

  function launch(request: ServeRequest): Promise<Running> {
    const starting = start(request)
    running.add(starting)
    starting.then(
      ({ process: { exited } }) =>
        exited.then(() => {
          for (const [key, each] of shared) if (each === starting) shared.delete(key)
        }),
      () => running.delete(starting),
    )
    return starting
  }

  async function stop(starting: Promise<Running>): Promise<void> {
    running.delete(starting)
    const started = await starting.catch(() => undefined) // cleaned up after itself
    await started?.process.stop()
    await started?.remove()
  }

  return {
    /** What `command` would serve; undefined when it is an ordinary command. */
    recognise(command: string): ServeRequest | undefined {
      const [, rest] = /(?:^|[\s;&|/])(?:troupe|hud|main\.js)\s+serve\s+([^;&|]*)/.exec(command) ?? []
      if (rest === undefined) return undefined
      const [file] = /\S+\.(?:ts|mts|js|mjs|py)\b/.exec(rest) ?? []
      const environmentPath = options.environmentPath ?? find(options.directory, file)
      if (environmentPath === undefined) return undefined
      const [, port] = /--port[ =](\d+)/.exec(rest) ?? []
      const [, env] = /--env[ =](\S+)/.exec(rest) ?? []
      return { environmentPath: resolve(environmentPath), env, port: Number(port ?? DEFAULT_PORT) }
    },
    async serve(request: ServeRequest): Promise<Served> {
      const key = `${request.environmentPath}\n${request.env ?? ''}`
      const starting = (options.servers === 'shared' ? shared.get(key) : undefined) ?? launch(request)
      if (options.servers === 'shared') shared.set(key, starting)
      try {
        const { process: process_ } = await starting
        return {
          pid: process_.pid,
          exited: process_.exited,
          connect: () => dial(process_),
          // A shared one is kept for the next sandbox: it ends with the emulator.
          release: sessionIds => (options.servers === 'each' ? stop(starting) : endSessions(process_, sessionIds)),
        }
      } catch (error) {
        shared.delete(key)
        throw error
      }
    },
    async close(): Promise<void> {
      await client.close()
      await Promise.all([...running].map(stop))
    },
  }
}

export type Servers = ReturnType<typeof makeServers>

interface Running {
  readonly process: ServeProcess
  readonly remove: () => Promise<void>
}

function dial({ address }: ServeProcess): Socket {
  if (address.kind === 'unix') return connect({ path: address.path })
  return connect({ host: address.host, port: address.port, noDelay: true })
}

function find(directory: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const inside = file.startsWith(IMAGE_DIRECTORY) ? file.slice(IMAGE_DIRECTORY.length) : file
  const path = resolve(directory, inside)
  if (!path.startsWith(resolve(directory))) throw refused(400, `${file} lies outside of what the emulator serves`)
  return existsSync(path) ? path : undefined
}
