import { rmSync } from 'node:fs'
import type { LiveFeed } from '../feed/open-feed.ts'
import type { FeedSocket } from '../feed/socket.ts'
import type { Job } from '../job/job.ts'
import type { Tokenizer } from '../policy/tokenizer.ts'
import type { Cli } from './cli.ts'
import type { ObserveArguments } from './observe-options.ts'
import type { Observers } from './observers.ts'

export interface WatchArguments extends Pick<ObserveArguments, 'dashboard' | 'price' | 'priceCreate'> {
  /** Beside it `troupe dashboard` and `troupe top` find the running engine. */
  readonly journal: string | false
}

const LOOPBACK = '127.0.0.1'

/** What a running job is watched by: a socket beside its journal, and a page where one was asked for. Takes the port at once. */
export async function openWatched(
  options: WatchArguments,
  { clock, console }: Cli,
  tokenizer: () => Promise<Tokenizer | undefined>,
): Promise<Observers> {
  const { dashboard, journal } = options
  const server = dashboard === undefined ? undefined : await startServer(dashboard === true ? {} : dashboard)
  let feed: LiveFeed | undefined
  let socket: FeedSocket | undefined
  // After a second Ctrl-C nothing is closed any more.
  const removeSocket = () => {
    if (socket !== undefined) rmSync(socket.path, { force: true })
  }

  async function startServer({ host = LOOPBACK, port = 0 }: { readonly host?: string; readonly port?: number }) {
    const { startDashboardServer } = await import('../dashboard/server.ts')
    const { makeLadders } = await import('../dashboard/ladders.ts')
    const { takeDashboardToken } = await import('../dashboard/token.ts')
    const token = takeDashboardToken(host, process.env)
    const secured = token === undefined ? {} : { token }
    const started = await startDashboardServer({ host, port, ...secured, ladders: makeLadders([]), clock })
    console.need(`dashboard: ${started.url}`)
    return started
  }

  async function openSocket(own: LiveFeed, directory: string): Promise<void> {
    const { openFeedSocket } = await import('../feed/socket.ts')
    try {
      socket = await openFeedSocket(own, directory, clock)
      process.once('exit', removeSocket)
    } catch (error) {
      // The job is none the worse: who wants to look follows the journal.
      console.talk(error instanceof Error ? error.message : String(error))
    }
  }

  return {
    async attach(job: Job) {
      if (server === undefined && journal === false) return
      const { openFeed } = await import('../feed/open-feed.ts')
      const prices = toPrices(options)
      feed = openFeed(job, { clock, ...(prices === undefined ? {} : { prices }) })
      if (server !== undefined) {
        const { makeJobSource } = await import('../dashboard/job-source.ts')
        server.show(makeJobSource(job, feed, tokenizer))
      }
      if (journal !== false) await openSocket(feed, journal)
    },
    async over() {
      feed?.over()
      await socket?.close()
      process.off('exit', removeSocket)
      socket = undefined
    },
    async close() {
      await server?.close()
      await feed?.close()
    },
  }
}

function toPrices({ price, priceCreate }: WatchArguments) {
  if (price === undefined && priceCreate === undefined) return undefined
  return { perSandboxSecond: price ?? 0, perCreate: priceCreate ?? 0 }
}
