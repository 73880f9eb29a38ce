import type { Feed } from './feed.ts'
import type { FeedMessage } from './messages.ts'

/** Messages that wait for a reader who is busy. More, and it is sent a state in their place. */
const MOST_WAITING = 16

/** A feed of this process as an async iterable, for one reader. Nothing piles up while the reader is busy. Ends with `signal`, without an error. */
export async function* readFeed(feed: Feed, signal: AbortSignal): AsyncGenerator<FeedMessage> {
  const waiting: FeedMessage[] = []
  let hasMissed = false
  let wake = () => {}
  const watch = feed.watch(({ message }) => {
    if (message.type === 'state') {
      waiting.splice(0)
      hasMissed = false
    } else if (hasMissed || waiting.length >= MOST_WAITING) {
      hasMissed = true
      return
    }
    waiting.push(message)
    wake()
  })
  const abort = () => wake()
  signal.addEventListener('abort', abort)
  try {
    while (!signal.aborted) {
      if (waiting.length === 0)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) yield next
      if (hasMissed) watch.again()
    }
  } finally {
    signal.removeEventListener('abort', abort)
    watch.stop()
  }
}
