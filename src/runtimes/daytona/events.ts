import { setMaxListeners } from 'node:events'
import type { SandboxApi, Sandbox as SandboxDto, SandboxState } from '@daytona/api-client'
import type { CancelTimer, Clock } from '../../clock.ts'
import { hasTag } from '../../errors.ts'
import type { SandboxEvents } from './account.ts'
import { callDaytona } from './call.ts'
import { accountReleased } from './errors.ts'
import { type EventFeed, makeEventFeed, type SandboxNews } from './event-feed.ts'
import { makeRecent } from './recent.ts'
import { waitForState } from './wait-for-state.ts'

export interface SandboxEventsOptions {
  readonly apiUrl: string
  readonly apiKey: string
  readonly clock: Clock
  readonly sandboxes: SandboxApi
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

/** Events of one account. The stream opens with the first who listens, and stays until `close`, which rejects who still waits. */
export function makeSandboxEvents(options: SandboxEventsOptions): SandboxEvents & { close(): void } {
  const { apiUrl, apiKey, clock, sandboxes, random = Math.random } = options
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

  /** Undefined: it is gone. */
  async function look(id: string, signal: AbortSignal): Promise<SandboxDto | undefined> {
    try {
      return await callDaytona(`look at the sandbox ${id}`, () =>
        sandboxes.getSandbox(id, undefined, undefined, { signal }),
      )
    } catch (error) {
      if (hasTag(error, 'daytona-not-found')) return undefined
      throw error
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
      return () => {
        cancel()
        stop()
      }
    },
    close() {
      feed.close()
      closing.abort(accountReleased())
    },
  }
}
