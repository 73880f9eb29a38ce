import type { Sandbox as SandboxDto } from '@daytona/api-client'
import type { Socket } from 'socket.io-client'
import type { CancelTimer, Clock } from '../../../clock.ts'

/** What an event tells of a sandbox: its id and state at least. */
export type SandboxNews = Pick<SandboxDto, 'id'> & Partial<SandboxDto>

/** The provider's stream of events about every sandbox of the account. */
export interface EventFeed {
  /** Connects, if it does not yet; it then stays connected, or tries to, until it is closed. */
  open(): void
  /** True while events can be relied upon: connected, and at least one has come since. */
  readonly trusted: boolean
  close(): void
}

export interface EventFeedOptions {
  readonly apiUrl: string
  readonly apiKey: string
  readonly clock: Clock
  readonly onNews: (news: SandboxNews) => void
  /** Connected again after a gap in which events may have been missed. */
  readonly onReconnected: () => void
}

const RECONNECT_MIN_MS = 250
const RECONNECT_MAX_MS = 10_000

/** Socket.io over WebSocket alone, at the API's own path, as the provider's SDK connects. */
export function makeEventFeed({ apiUrl, apiKey, clock, onNews, onReconnected }: EventFeedOptions): EventFeed {
  let socket: Socket | undefined
  let opening = false
  let closed = false
  let heard = false
  let connectedBefore = false
  let refusals = 0
  let cancelRetry: CancelTimer = () => {}

  async function connect(): Promise<void> {
    const { io } = await import('socket.io-client')
    if (closed) return
    const { origin, pathname } = new URL(apiUrl)
    const made = io(origin, {
      path: `${pathname.replace(/\/$/, '')}/socket.io/`,
      transports: ['websocket'],
      auth: { token: apiKey },
      reconnectionDelay: RECONNECT_MIN_MS,
      reconnectionDelayMax: RECONNECT_MAX_MS,
      // One connection an account: not to be shared with whatever else uses the library.
      forceNew: true,
    })
    socket = made
    made.on('connect', () => {
      refusals = 0
      if (connectedBefore) onReconnected()
      connectedBefore = true
    })
    made.on('disconnect', () => {
      heard = false
      retryIfLeft(made)
    })
    made.on('connect_error', () => retryIfLeft(made))
    for (const name of ['sandbox.created', 'sandbox.state.updated']) made.on(name, hear)
  }

  /** The library itself tries again after a broken connection, but not after the server's own goodbye or refusal. */
  function retryIfLeft(made: Socket): void {
    if (made.active || closed) return
    cancelRetry()
    refusals += 1
    cancelRetry = clock.after(Math.min(RECONNECT_MAX_MS, RECONNECT_MIN_MS * 2 ** refusals), () => made.connect())
  }

  function hear(payload: unknown): void {
    heard = true
    const news = readNews(payload)
    if (news !== undefined) onNews(news)
  }

  return {
    open() {
      if (opening || closed) return
      opening = true
      void connect()
    },
    get trusted() {
      return heard && socket?.connected === true
    },
    close() {
      closed = true
      cancelRetry()
      socket?.removeAllListeners()
      socket?.disconnect()
    },
  }
}

/** `{sandbox: {id, state, …}, newState}`, or the sandbox itself. */
function readNews(payload: unknown): SandboxNews | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const { sandbox = payload, newState } = payload as { readonly sandbox?: unknown; readonly newState?: unknown }
  if (typeof sandbox !== 'object' || sandbox === null || !('id' in sandbox)) return undefined
  // The one parser of events: the provider's own representation, of which the id and the state are looked at.
  const news = sandbox as SandboxNews
  return typeof newState === 'string' ? { ...news, state: newState as NonNullable<SandboxDto['state']> } : news
}
