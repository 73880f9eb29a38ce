import type { FeedMessage } from '../../feed/messages.ts'
import type { Link } from './model/state.ts'

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 15_000

/** What a connection tells. */
export interface Listener {
  readonly message: (message: FeedMessage) => void
  readonly link: (link: Link) => void
}

/**
 * Follows the feed until it is closed. A lost connection is said and tried again, later each time; that is done here and not left to EventSource, which
 * gives up for good where a server answers with an error.
 */
export function follow(job: string | undefined, { message, link }: Listener): { close(): void } {
  let tries = 0
  let source: EventSource | undefined
  let timer: number | undefined

  function open(): void {
    const opened = new EventSource(job === undefined ? '/feed' : `/feed?${new URLSearchParams({ job })}`)
    source = opened
    opened.onopen = () => {
      tries = 0
      link({ type: 'open' })
    }
    opened.onmessage = event => {
      const parsed = parseMessage(event.data)
      if (parsed !== undefined) message(parsed)
    }
    opened.onerror = () => {
      opened.close()
      const retryInMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** tries)
      tries += 1
      link({ type: 'lost', retryInMs, tries })
      timer = window.setTimeout(open, retryInMs)
    }
  }

  open()
  return {
    close() {
      window.clearTimeout(timer)
      source?.close()
    },
  }
}

/** The server is of the same version as the page: only which of the two it is has to be looked at. Kinds that are unknown are passed over. */
function parseMessage(data: unknown): FeedMessage | undefined {
  const parsed: unknown = JSON.parse(String(data))
  if (typeof parsed !== 'object' || parsed === null || !('type' in parsed)) return undefined
  return parsed.type === 'state' || parsed.type === 'tick' ? (parsed as FeedMessage) : undefined
}
