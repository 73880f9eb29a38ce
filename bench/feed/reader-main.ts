/** Somebody who watches a feed, in a process of their own, as `troupe top` and a dashboard are. */
import { openFeedClient } from '../../src/feed/client.ts'

/** What it is told; it answers each with the ticks that it has read so far. */
export type ReaderMessage =
  | { readonly type: 'begin'; readonly socket: string }
  | { readonly type: 'count' }
  | { readonly type: 'end' }

let leaving = new AbortController()
let reading: Promise<void> = Promise.resolve()
let ticks = 0

async function read(socket: string, signal: AbortSignal, begun: () => void): Promise<void> {
  for await (const message of openFeedClient(socket, { signal, giveUpMs: 0 })) {
    begun()
    if (message.type === 'tick') ticks += 1
  }
}

async function obey(message: ReaderMessage): Promise<void> {
  if (message.type === 'begin') {
    leaving = new AbortController()
    ticks = 0
    await new Promise<void>((resolve, reject) => {
      reading = read(message.socket, leaving.signal, resolve)
      reading.catch(reject)
    })
  } else if (message.type === 'end') {
    leaving.abort()
    await reading
  }
}

process.on('message', (message: ReaderMessage) => {
  obey(message).then(
    () => process.send?.(ticks),
    error => {
      throw error
    },
  )
})
