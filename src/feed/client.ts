import { type Clock, sleep, systemClock } from '../clock.ts'
import { hasTag } from '../errors.ts'
import { connectFeed, type FeedTarget } from './connect.ts'
import type { FeedMessage } from './messages.ts'

/** Of `openFeedClient`. */
export interface FeedClientOptions {
  readonly clock?: Clock
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal
  /** How long nobody may be reached before it throws. Default 30 s; 0: the first failure is the last. */
  readonly giveUpMs?: number
}

const GIVE_UP_MS = 30_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/**
 * The messages of a feed that is served elsewhere, connected to again where the connection breaks: each time they begin with a state. It ends by itself after the
 * message that says that the job is over. Nothing piles up while the reader is busy: the other side then sends a state in the place of ticks. Throws
 * `feed-unreachable` or `feed-silent` once nobody was reached for `giveUpMs`, `feed-refused` and `feed-foreign` at once.
 */
export async function* openFeedClient(
  target: FeedTarget,
  { clock = systemClock, signal = new AbortController().signal, giveUpMs = GIVE_UP_MS }: FeedClientOptions = {},
): AsyncGenerator<FeedMessage> {
  let heardAt = clock.now()
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    let isOver = false
    try {
      for await (const message of connectFeed(target, clock, signal)) {
        heardAt = clock.now()
        pauseMs = FIRST_PAUSE_MS
        isOver = saysOver(message) ?? isOver
        yield message
      }
    } catch (error) {
      const isPassing = hasTag(error, 'feed-unreachable') || hasTag(error, 'feed-silent')
      if (!isOver && (!isPassing || clock.now() - heardAt >= giveUpMs)) throw error
    }
    if (isOver || signal.aborted) return
    await sleep(clock, pauseMs, signal).catch(() => {}) // Aborted: the loop ends.
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
  }
}

/** Undefined where it does not say. */
export function saysOver(message: FeedMessage): boolean | undefined {
  const source = message.type === 'state' ? message.job.source : message.source
  return source === undefined ? undefined : source === 'over'
}
