import type { CancelTimer, Clock } from '../clock.ts'
import type { Connection } from './connection.ts'
import { sessionLost } from './errors.ts'
import { METHOD } from './extension.ts'
import { HEARTBEAT_MS, startHeartbeat } from './heartbeat.ts'

/** Sessions on a shared connection before a second one is opened beside it. */
const SESSIONS_BEFORE_NEXT = 64
/** How long a shared connection without sessions is kept for the next one. */
const IDLE_MS = 2_000

interface Shared {
  readonly stopHeartbeat: () => void
  cancelIdle: CancelTimer
}

/** What a client knows of one address, as long as something of it is in use. */
export class Peer {
  readonly key: string
  readonly #maxShared: number
  readonly #clock: Clock
  readonly #shared = new Map<Connection, Shared>()
  /** Resolves when it is known whether the connection being opened can be shared; to the error, if it could not be opened. */
  opening: Promise<unknown> | undefined
  /** It was asked and does not share. Forgotten with the peer's last session, since another process may listen here later. */
  declines = false
  /** Sessions on connections of their own. */
  singles = 0

  constructor(key: string, options: { readonly maxShared: number; readonly clock: Clock }) {
    this.key = key
    this.#maxShared = options.maxShared
    this.#clock = options.clock
  }

  get idle(): boolean {
    return this.#shared.size === 0 && this.singles === 0 && this.opening === undefined
  }

  /** The connection for one more session; undefined where a new one should be opened, or its opening be waited for. */
  pick(): Connection | undefined {
    let best: Connection | undefined
    for (const connection of this.#shared.keys())
      if (connection.lost === undefined && (best === undefined || connection.users < best.users)) best = connection
    if (best === undefined) return undefined
    const mayOpen = this.#shared.size < this.#maxShared && this.opening === undefined
    return best.users >= SESSIONS_BEFORE_NEXT && mayOpen ? undefined : best
  }

  /** Takes in a connection that its peer agreed to share. */
  share(connection: Connection): void {
    const stopHeartbeat = startHeartbeat({
      clock: this.#clock,
      everyMs: HEARTBEAT_MS,
      beat: async sent => {
        sent()
        await connection.request(METHOD.ping, {}, 0)
      },
      onLost: why => connection.abort(sessionLost(connection.address, why)),
    })
    this.#shared.set(connection, { stopHeartbeat, cancelIdle: () => {} })
  }

  /** A session has come. */
  keep(connection: Connection): void {
    this.#shared.get(connection)?.cancelIdle()
  }

  /** A session has gone. A connection that has none is kept for a moment, then closed. */
  rest(connection: Connection): void {
    const shared = this.#shared.get(connection)
    if (shared === undefined || connection.users > 0 || connection.lost !== undefined) return
    shared.cancelIdle()
    shared.cancelIdle = this.#clock.after(IDLE_MS, () => connection.leave())
  }

  /** The connection has closed. */
  remove(connection: Connection): void {
    const shared = this.#shared.get(connection)
    if (shared === undefined) return
    shared.stopHeartbeat()
    shared.cancelIdle()
    this.#shared.delete(connection)
  }
}
