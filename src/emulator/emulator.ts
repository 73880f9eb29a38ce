import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type Clock, systemClock } from '../clock.ts'
import { makeWorkspaceHost } from '../environment/workspace/index.ts'
import { hasTag } from '../errors.ts'
import { randomIds } from '../ids.ts'
import { deriveSeed, makeRandom } from '../random.ts'
import { makeAccess } from './access.ts'
import { makeApp } from './app.ts'
import type { Context, Quota } from './context.ts'
import { emulatorClosed, portTaken } from './errors.ts'
import { type EventFeed, makeEventFeed } from './events.ts'
import { makeFasterClock } from './faster-clock.ts'
import { type Fault, type Faults, makeFaults } from './faults.ts'
import { portOf, startGateway } from './gateway.ts'
import { makeLatency } from './latency.ts'
import { keepLifetimes } from './lifetimes.ts'
import { makeLogFeed } from './log-feed.ts'
import { makePreview, PREVIEW_PREFIX } from './preview.ts'
import { toDto } from './sandbox.ts'
import { makeSandboxes, type SandboxCounts } from './sandboxes.ts'
import { makeServers, type ServersOptions } from './servers.ts'
import type { Site } from './site.ts'
import { makeSnapshots } from './snapshots.ts'
import { makeStorage } from './storage.ts'
import { makeThrottle, type RateLimits } from './throttle.ts'
import { makeTimelines, type SandboxTimeline } from './timeline.ts'
import { makeWarmPools } from './warm-pools.ts'

/** How an emulator listens, how fast its time goes, and what its account may do. */
export interface EmulatorOptions {
  /** Of the API on 127.0.0.1; 0 (the default) for one that is free. */
  readonly port?: number
  /** Of the SSH gateway; the same. */
  readonly sshPort?: number
  /** What clients must send. Default `emulator`. */
  readonly apiKey?: string
  /** All emulated times are divided by it. Default 1. */
  readonly speed?: number
  /** Default 0. Decides durations, failures and faults, given the same calls in the same order. */
  readonly seed?: number
  readonly faults?: readonly Fault[]
  /** The first is the default. Default `us` and `eu`. */
  readonly regions?: readonly string[]
  /** vCPUs, and GiB of memory and disk in use at once. Default 2,048, 4,096 and 16,384. */
  readonly quota?: Partial<Quota>
  /** Calls a minute of emulated time. Default 50,000 in all, 600 creates, 10,000 starts, stops and deletes. */
  readonly limits?: Partial<RateLimits>
  /** Whether sandboxes that serve the same environment share one server process. Default `shared`: hundreds fit on one machine. */
  readonly servers?: ServersOptions['servers']
  /** Served whatever file a sandbox is told to serve. */
  readonly environmentPath?: string
  /** Where the files are that sandboxes are told to serve. Default: the working directory. */
  readonly directory?: string
  readonly isolation?: 'bwrap' | 'none'
  readonly clock?: Clock
  /** How often intervals and times to live are looked at. Default 1,000. */
  readonly lifetimesEveryMs?: number
  /** Told of what no caller can be told. Default: a process warning. */
  readonly onError?: (error: unknown) => void
  /** The servers' program, for tests. */
  readonly hostProgram?: string
}

/** A running emulator: what a client is to be told, and what can be seen and changed from outside. */
export interface Emulator {
  /** What `DAYTONA_API_URL` is to be: `http://127.0.0.1:PORT/api`. */
  readonly url: string
  /** What `DAYTONA_API_KEY` is to be. */
  readonly apiKey: string
  readonly sshPort: number
  readonly faults: Faults
  /** Sandboxes since the start. */
  readonly counts: Readonly<SandboxCounts>
  /** Sandboxes that exist, unclaimed ones included. */
  existing(): number
  /** What took how long in the making of one sandbox; kept for the last 20,000, those that are gone included. */
  timeline(idOrName: string): SandboxTimeline | undefined
  /** Ends everything in it: sandboxes, their commands and servers, connections and files. */
  close(): Promise<void>
}

const DEFAULT_LIMITS: RateLimits = { authenticated: 50_000, 'sandbox-create': 600, 'sandbox-lifecycle': 10_000 }
const DEFAULT_QUOTA: Quota = { cpu: 2_048, memory: 4_096, disk: 16_384 }
const MAX_COMMANDS = 1_024

/** Starts a look-alike of Daytona on 127.0.0.1. Rejects with `emulator-port-taken`, or with what bubblewrap misses. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { apiKey = 'emulator', speed = 1, seed = 0, clock: wall = systemClock } = options
  const { onError = error => process.emitWarning(String(error)) } = options
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // refills, losses and lifetimes that wait
  const clock = makeFasterClock(wall, speed)
  const epoch = wall === systemClock ? performance.timeOrigin : wall.wallTime() - wall.now()
  const work = new Set<Promise<unknown>>()
  let feed: EventFeed | undefined
  const context: Context = {
    clock,
    wall,
    latency: makeLatency({ seed: deriveSeed(seed, 'latency'), clock, signal: closing.signal }),
    timelines: makeTimelines(() => epoch + wall.now()),
    faults: makeFaults(deriveSeed(seed, 'faults'), options.faults),
    random: makeRandom(deriveSeed(seed, 'choices')),
    ids: randomIds,
    regions: options.regions ?? ['us', 'eu'],
    quota: { ...DEFAULT_QUOTA, ...options.quota },
    servers: makeServers({
      servers: options.servers ?? 'shared',
      directory: options.directory ?? process.cwd(),
      environmentPath: options.environmentPath,
      program: options.hostProgram,
      signal: closing.signal,
    }),
    workspaces: makeWorkspaceHost({ isolation: options.isolation ?? 'bwrap', maxCommands: MAX_COMMANDS }),
    signal: closing.signal,
    events: { created: record => feed?.created(record), changed: (record, old) => feed?.changed(record, old) },
    background(promise) {
      const watched = promise
        .catch(error => {
          if (!closing.signal.aborted && !hasTag(error, 'emulator-closed')) onError(error)
        })
        .finally(() => work.delete(watched))
      work.add(watched)
    },
  }
  await context.workspaces.preflight()
  const sandboxes = makeSandboxes(context)
  const access = makeAccess(wall)
  const gateway = await startGateway({
    access,
    sandboxes,
    ...(options.sshPort === undefined ? {} : { port: options.sshPort }),
  })
  const organizationId = toOrganizationId(apiKey)
  const storage = makeStorage()
  let origin = ''
  const site: Site = {
    context,
    sandboxes,
    access,
    storage,
    organizationId,
    pools: makeWarmPools(context, sandboxes),
    snapshots: makeSnapshots(context, hash => storage.entries(`${organizationId}/${hash}/context.tar`)),
    origin: () => origin,
    sshPort: () => gateway.port,
  }
  const events = makeEventFeed({ apiKey, toDto: record => toDto(record, organizationId, `${origin}/toolbox`) })
  feed = events
  const logs = makeLogFeed(site)
  const preview = makePreview(sandboxes, access)
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const throttle = makeThrottle(limits, clock, speed)
  const app = makeApp({ site, apiKey, throttle, limits, preview })
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy()) // the peer is gone
    const { url = '' } = request
    if (url.startsWith('/api/socket.io/')) events.accept(request, socket, head)
    else if (url.startsWith(PREVIEW_PREFIX)) preview.upgrade(request, socket, head)
    else if (request.headers.authorization === `Bearer ${apiKey}`) logs.accept(request, socket, head)
    else socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n')
  })

  async function end(): Promise<void> {
    closing.abort(emulatorClosed())
    events.close()
    logs.close()
    await sandboxes.close()
    await Promise.all([app.close(), gateway.close()])
    await Promise.all(work)
    await context.servers.close()
    await context.workspaces.close()
  }
  let ended: Promise<void> | undefined
  const close = () => (ended ??= end())
  try {
    origin = await listen(app, options.port ?? 0)
  } catch (error) {
    await close()
    throw error
  }
  context.background(keepLifetimes(context, sandboxes, options.lifetimesEveryMs ?? 1_000))
  return {
    url: `${origin}/api`,
    apiKey,
    sshPort: gateway.port,
    faults: context.faults,
    counts: sandboxes.counts,
    existing: () => sandboxes.records.size,
    timeline: context.timelines.of,
    close,
  }
}

async function listen(app: FastifyInstance, port: number): Promise<string> {
  try {
    await app.listen({ host: '127.0.0.1', port })
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' ? portTaken(port, error) : error
  }
  return `http://127.0.0.1:${portOf(app.server)}`
}

/** The same key is the same organisation, so that pushed contexts are found again. */
function toOrganizationId(apiKey: string): string {
  return createHash('md5')
    .update(apiKey)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
