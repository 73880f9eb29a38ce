import { type FeedBook, makeFeedBook } from '../feed/book.ts'
import type { FeedMessage, FeedNow, FeedState } from '../feed/messages.ts'
import { applyTick, loadState } from '../feed/relay.ts'

/** What a feed has told so far. */
export interface Known {
  receive(message: FeedMessage): void
  /** Undefined before the first state. Bounded, however long the feed goes on. */
  state(): FeedState | undefined
}

/** Knows nothing yet. Ticks that come before a state tell nothing. */
export function makeKnown(): Known {
  let book: FeedBook | undefined
  let last: { readonly at: number; readonly now: FeedNow } | undefined
  return {
    receive(message) {
      if (message.type === 'state') {
        book ??= makeFeedBook(message.job)
        loadState(book, message)
      } else if (book !== undefined) applyTick(book, message)
      if (book !== undefined) last = message
    },
    state: () => (last === undefined ? undefined : book?.state(last.at, last.now)),
  }
}
