import { setMaxListeners } from 'node:events'
import type { Sandbox as SandboxDto, SandboxState } from '@daytona/api-client'
import type { CancelTimer, Clock } from '../../../clock.ts'
import { type EventFeed, makeEventFeed, type SandboxNews } from './event-feed.ts'
import { makeRecent } from './recent.ts'
import { waitForState } from './wait-for-state.ts'

/** What happens to sandboxes, as the provider's event stream tells it, with a look by request where the stream is silent. */
export interface SandboxEvents {
  /** Connects to the stream ahead of need; whoever waits or watches does, too. */
  connect(): void
  /**
   * Resolves when the sandbox has one of these states, with its representation then. Rejects with `daytona-sandbox-failed` (and the provider's reason) when
   * it ends in `error`, `build_failed` or `destroyed` instead, with `daytona-wait-timeout`, or with the signal's reason.
   */
  reached(
    id: string,
    states: readonly SandboxState[],
    options: { readonly deadlineMs: number; readonly signal?: AbortSignal; readonly known?: SandboxDto },
  ): Promise<SandboxDto>
  /** Calls back with each new state of the sandbox until the returned function is called. */
  watch(id: string, onState: (state: SandboxState) => void): () => void
}

export interface SandboxEventsOptions {
  readonly apiUrl: string
  readonly apiKey: string
  readonly clock: Clock
  /** Asks the provider; undefined when the sandbox is gone. */
  readonly look: (id: string, signal: AbortSignal) => Promise<SandboxDto | undefined>
  /** Spreads looks of many at once. */
  readonly random?: () => number
  /** For tests. Default: the provider's stream. */
  readonly makeFeed?: (hear: Pick<Parameters<typeof makeEventFeed>[0], 'onNews' | 'onReconnected'>) => EventFeed
}

/** What one waiter or watcher hears. */
export interface Listener {
  hear(news: SandboxNews): void
  /** Events may have been missed: look. */
  missed(): void
}

/** Latest news kept of sandboxes that nobody listens to yet: an event may come before the answer that tells the id. */
const RECENT = 4_096
const MISSED_SPREAD_MS = 300

/** Events of one account. The stream opens with the first who listens, and stays until `close`, which rejects who still waits with its reason. */
export function makeSandboxEvents(options: SandboxEventsOptions): SandboxEvents & { close(reason: Error): void } {
  const { apiUrl, apiKey, clock, look, random = Math.random } = options
  const listeners = new Map<string, Set<Listener>>()
  const recent = makeRecent<SandboxNews>(RECENT)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one for each who waits
  const hear = {
    onNews(news: SandboxNews) {
      const known = listeners.get(news.id)
      recent.set(news.id, news)
      for (const listener of [...(known ?? [])]) listener.hear(news)
    },
    onReconnected() {
      recent.clear()
      for (const all of [...listeners.values()]) for (const listener of [...all]) listener.missed()
    },
  }
  const feed = options.makeFeed?.(hear) ?? makeEventFeed({ apiUrl, apiKey, clock, ...hear })

  function listen(id: string, listener: Listener): () => void {
    feed.open()
    const all = listeners.get(id) ?? new Set()
    listeners.set(id, all.add(listener))
    return () => {
      all.delete(listener)
      if (all.size === 0 && listeners.get(id) === all) listeners.delete(id)
    }
  }

  return {
    connect: () => feed.open(),
    reached: (id, states, given) =>
      waitForState(id, states, {
        ...given,
        clock,
        closing: closing.signal,
        recent: recent.get(id),
        trusted: () => feed.trusted,
        listen: listener => listen(id, listener),
        look: signal => look(id, signal),
        random,
      }),
    watch(id, onState) {
      let state: SandboxState | undefined
      let cancel: CancelTimer = () => {}
      const tell = (next: SandboxState | undefined) => {
        if (next === undefined || next === state) return
        state = next
        onState(next)
      }
      const lookAgain = async () => {
        try {
          tell((await look(id, closing.signal))?.state ?? 'destroyed')
        } catch {
          // The stream is back: it tells what comes next, and the touches of the sandbox tell if it is gone.
        }
      }
      const stop = listen(id, {
        hear: news => tell(news.state),
        missed() {
          cancel()
          cancel = clock.after(random() * MISSED_SPREAD_MS, () => void lookAgain())
        },
      })
      // What came before the answer that told of the sandbox does not come again.
      tell(recent.get(id)?.state)
      return () => {
        cancel()
        stop()
      }
    },
    close(reason) {
      feed.close()
      closing.abort(reason)
    },
  }
}
