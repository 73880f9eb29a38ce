import { chmod, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import { socketNotOpened, socketPathTooLong } from './errors.ts'
import type { Feed } from './feed.ts'
import { makeFeedStreams } from './streams.ts'

/** A running engine's feed, to be found beside its journal. */
export interface FeedSocket {
  readonly path: string
  /** Removes it. Before the journal is given up: from then on the place is another engine's. Twice is once. */
  close(): Promise<void>
}

const NAME = 'feed.sock'
/** What the shortest of the supported systems allows, without the byte that ends it. */
const LONGEST_PATH_BYTES = 103
const REQUEST_MS = 10_000
const MOST_CONNECTIONS = 64
const CLOSE_MS = 1_000

/** Where the engine that holds this journal serves its feed. */
export function feedSocketPath(journal: string): string {
  return join(journal, NAME)
}

/**
 * Serves the feed at `/feed` on a Unix socket in the directory of a journal that this process holds; only this user may connect. What a killed process has left there is
 * replaced, as the journal has one holder at a time. Rejects with `feed-socket-not-opened` or `feed-socket-path-too-long`: the job is none the worse.
 */
export async function openFeedSocket(feed: Feed, journal: string, clock: Clock = systemClock): Promise<FeedSocket> {
  const path = feedSocketPath(journal)
  if (!fitsSocket(path)) throw socketPathTooLong(path, LONGEST_PATH_BYTES)
  const streams = makeFeedStreams(clock)
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/feed')
      return refuse(response, 404, { tag: 'no-such-route', message: 'the feed is at /feed' })
    try {
      streams.open(feed, response)
    } catch (error) {
      refuse(response, 503, toErrorData(error))
    }
  })
  server.maxConnections = MOST_CONNECTIONS
  try {
    await rm(path, { force: true })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => {
        server.off('error', reject)
        // A connection that could not be taken, for want of descriptors: whoever watches sees it, and the job goes on.
        server.on('error', () => {})
        resolve()
      })
    })
    await chmod(path, 0o600)
  } catch (error) {
    server.close()
    throw socketNotOpened(path, error)
  }
  let closing: Promise<void> | undefined
  return {
    path,
    close() {
      closing ??= (async () => {
        await streams.close(CLOSE_MS)
        // The server removes the file itself.
        await new Promise<void>(resolve => {
          server.close(() => resolve())
          server.closeAllConnections()
        })
      })()
      return closing
    },
  }
}

/** Whether a Unix socket can have that path. */
export function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_PATH_BYTES
}

function refuse(response: ServerResponse, status: number, { tag, message }: ErrorData): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ error: { tag, message } }))
}
