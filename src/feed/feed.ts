import type { CancelTimer, Clock } from '../clock.ts'
import type { FeedBook } from './book.ts'
import type { FeedMessage, FeedNow } from './messages.ts'

/** How often watchers are told what is new, at most. */
export const TICK_MS = 250

/** What can be watched. While nobody does it has no timer and asks nobody anything. */
export interface Feed {
  /** A `state` comes first, at once or as soon as there is one; then ticks. `receive` must not throw. */
  watch(receive: (told: Told) => void): Watch
  isWatched(): boolean
  /** Ends the ticks of all watchers: nothing more comes. Twice is once. */
  close(): Promise<void>
}

/** One watcher's hold on a feed. */
export interface Watch {
  /** Sends a whole state now, in the place of ticks that were not taken. */
  again(): void
  stop(): void
}

/** A message, and its JSON: made once, however many are told. */
export interface Told {
  readonly message: FeedMessage
  readonly text: string
}

export interface FeedPorts {
  readonly clock: Clock
  readonly book: FeedBook
  now(): FeedNow
  /** Brings into the book what must be asked for, before a tick. Must not reject. */
  readonly refresh?: () => Promise<void>
  /** Somebody watches now; resolves when there is something to show. Must not reject. */
  readonly begin?: () => Promise<void>
  /** Nobody does any more. */
  readonly end?: () => Promise<void>
}

/** A feed, and what its owner does with it. */
export interface FeedSource extends Feed {
  /** Sends every watcher a whole state: more has become known than a tick can say. */
  restate(): void
  /** Sends what is new now, without waiting for the next tick. */
  flush(): void
}

export function makeFeed(ports: FeedPorts): FeedSource {
  const { clock, book } = ports
  const watchers = new Set<(told: Told) => void>()
  /** Those whom nothing was sent yet, because there is nothing to show. */
  const waiting = new Set<(told: Told) => void>()
  /** The tick that is waited for or under way. */
  let next: { cancel: CancelTimer } | undefined
  let lastTickAt = Number.NEGATIVE_INFINITY
  /** One span in which somebody watches. */
  let span: object | undefined
  let isReady = false
  let ended: Promise<void> | undefined
  let closing: Promise<void> | undefined

  const stateOf = (): Told => toTold({ type: 'state', ...book.state(clock.wallTime(), ports.now()) })

  function flush(): void {
    if (!isReady) return
    lastTickAt = clock.now()
    const fresh = book.take()
    // Of a job that is over nothing changes any more, the time apart.
    if (book.job.source === 'over' && Object.keys(fresh).length === 0) return
    const told = toTold({ type: 'tick', at: clock.wallTime(), now: ports.now(), ...fresh })
    for (const receive of watchers) receive(told)
  }

  function schedule(): void {
    if (next !== undefined || watchers.size === 0) return
    const own = { cancel: () => {} }
    own.cancel = clock.after(Math.max(0, lastTickAt + TICK_MS - clock.now()), () => void tick(own))
    next = own
  }

  async function tick(own: object): Promise<void> {
    await ports.refresh?.()
    if (next !== own) return
    next = undefined
    if (watchers.size > 0) flush()
    schedule()
  }

  async function begin(): Promise<void> {
    const own = {}
    span = own
    await ended
    await ports.begin?.()
    if (span !== own) return
    isReady = true
    // What the state says is not said again.
    book.take()
    admit()
  }

  function admit(): void {
    if (!isReady || waiting.size === 0) return
    flush()
    const told = stateOf()
    for (const receive of waiting) {
      watchers.add(receive)
      receive(told)
    }
    waiting.clear()
    schedule()
  }

  function leave(): void {
    if (span === undefined || watchers.size + waiting.size > 0) return
    next?.cancel()
    next = undefined
    span = undefined
    isReady = false
    ended = ports.end?.()
  }

  return {
    watch(receive) {
      if (closing !== undefined) return { again() {}, stop() {} }
      waiting.add(receive)
      if (isReady) admit()
      else if (span === undefined) void begin()
      return {
        again() {
          if (!watchers.has(receive)) return
          watchers.delete(receive)
          waiting.add(receive)
          admit()
        },
        stop() {
          if (watchers.delete(receive) || waiting.delete(receive)) leave()
        },
      }
    },
    restate() {
      if (!isReady || watchers.size === 0) return
      book.take()
      const told = stateOf()
      for (const receive of watchers) receive(told)
    },
    flush,
    isWatched: () => watchers.size + waiting.size > 0,
    close() {
      closing ??= (async () => {
        watchers.clear()
        waiting.clear()
        leave()
        await ended
      })()
      return closing
    },
  }
}

function toTold(message: FeedMessage): Told {
  let text: string | undefined
  return {
    message,
    get text() {
      text ??= JSON.stringify(message)
      return text
    },
  }
}
