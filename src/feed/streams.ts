import type { ServerResponse } from 'node:http'
import type { CancelTimer, Clock } from '../clock.ts'
import { tooManyWatch } from './errors.ts'
import type { Feed, Told, Watch } from './feed.ts'

/** Feeds as server-sent events, to a bounded number of readers. */
export interface FeedStreams {
  /** Answers with the feed until the reader leaves. Throws `too-many-watch`, and nothing is written then. */
  open(feed: Feed, response: ServerResponse): void
  readonly size: number
  /** Ends all of them, once what was written has left or `graceMs` is over. */
  close(graceMs: number): Promise<void>
}

const MOST_READERS = 32
/** A sign of life for readers, and for whatever stands between. */
export const HEARTBEAT_MS = 15_000
/** A reader that takes nothing for so long is gone, whatever its connection says. */
const STUCK_MS = 60_000
/** After which a browser connects again. */
const RETRY_MS = 1_000

interface Reader {
  readonly response: ServerResponse
  watch: Watch | undefined
  /** Since when what was written waits for the reader; nothing is written meanwhile. */
  blockedSince: number | undefined
  hasMissed: boolean
}

export function makeFeedStreams(clock: Clock, mostReaders: number = MOST_READERS): FeedStreams {
  const readers = new Set<Reader>()
  let cancelBeat: CancelTimer | undefined

  function beat(): void {
    cancelBeat = undefined
    for (const reader of readers) {
      const { blockedSince, response } = reader
      if (blockedSince === undefined) response.write(': still here\n\n')
      else if (clock.now() - blockedSince >= STUCK_MS) response.destroy()
    }
    scheduleBeat()
  }

  function scheduleBeat(): void {
    if (readers.size > 0) cancelBeat ??= clock.after(HEARTBEAT_MS, beat)
  }

  function send(reader: Reader, { text }: Pick<Told, 'text'>): void {
    if (reader.response.write(`data: ${text}\n\n`)) return
    reader.blockedSince = clock.now()
    reader.response.once('drain', () => {
      reader.blockedSince = undefined
      if (!reader.hasMissed) return
      reader.hasMissed = false
      reader.watch?.again()
    })
  }

  function leave(reader: Reader): void {
    reader.watch?.stop()
    readers.delete(reader)
    if (readers.size > 0) return
    cancelBeat?.()
    cancelBeat = undefined
  }

  return {
    open(feed, response) {
      if (readers.size >= mostReaders) throw tooManyWatch(mostReaders)
      const reader: Reader = { response, watch: undefined, blockedSince: undefined, hasMissed: false }
      readers.add(reader)
      response.once('close', () => leave(reader))
      // A reader that is gone is told of by `close`.
      response.on('error', () => {})
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      })
      response.write(`retry: ${RETRY_MS}\n\n`)
      scheduleBeat()
      reader.watch = feed.watch(told => {
        if (reader.blockedSince === undefined) send(reader, told)
        else reader.hasMissed = true
      })
    },
    get size() {
      return readers.size
    },
    async close(graceMs) {
      await Promise.all([...readers].map(reader => endReader(reader.response, clock, graceMs)))
    },
  }
}

function endReader(response: ServerResponse, clock: Clock, graceMs: number): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise(resolve => {
    const cut = clock.after(graceMs, () => response.destroy())
    response.once('close', () => {
      cut()
      resolve()
    })
    response.end()
  })
}
