import type { Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { IdSource } from '../ids.ts'
import type { ServedEnvironment, ServedSession } from './served.ts'
import { refuse, sessionNotClosed } from './server-errors.ts'

/** Who speaks for a live session, to be told when somebody else ends it. */
export interface SessionOwner {
  cut(session: Session): void
}

export type SessionState =
  | { readonly kind: 'live'; readonly owner: SessionOwner }
  /** Without a connection, waiting to be resumed or adopted. */
  | { readonly kind: 'parked' }
  | { readonly kind: 'ending'; readonly ended: Promise<void> }

/** One session of the table, which alone changes its state. */
export interface Session {
  readonly id: string
  readonly served: ServedSession
  readonly state: SessionState
}

interface Entry extends Session {
  state: SessionState
}

export interface SessionTableOptions {
  readonly environment: ServedEnvironment
  readonly clock: Clock
  readonly ids: IdSource
  readonly maxSessions: number
  /** How long the closing of one session is waited for. */
  readonly closeMs: number
  readonly onError: (error: ErrorData) => void
}

/** Every session of one server: live on a connection, parked without one, or ending. */
export class SessionTable {
  readonly #options: SessionTableOptions
  readonly #entries = new Map<string, Entry>()
  /** Sessions whose context is being made. */
  readonly #opening = new Map<string, Promise<unknown>>()
  #ids = ''
  #closed = false

  constructor(options: SessionTableOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size + this.#opening.size
  }

  /** Throws `RpcRefusal` when the table is full or closed, or what the environment throws. */
  async open(owner: SessionOwner): Promise<Session> {
    if (this.#closed) throw refuse.closing()
    if (this.size >= this.#options.maxSessions) throw refuse.tooManySessions(this.#options.maxSessions)
    const id = this.#newId()
    const opening = this.#options.environment.openSession(id)
    this.#opening.set(id, opening)
    try {
      const entry: Entry = { id, served: await opening, state: { kind: 'live', owner } }
      this.#entries.set(id, entry)
      if (!this.#closed) return entry
      await this.#end(entry)
      throw refuse.closing()
    } finally {
      this.#opening.delete(id)
    }
  }

  /** Makes `owner` speak for a parked session. Throws `RpcRefusal` for one that is live or unknown. */
  resume(id: string, owner: SessionOwner): Session {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.state.kind === 'ending') throw refuse.unknownSession(id)
    if (entry.state.kind === 'live') throw refuse.sessionLive(id)
    entry.state = { kind: 'live', owner }
    return entry
  }

  /** The one parked task, for a grade that names no session. Throws `RpcRefusal` when there is none, or more than one. */
  adopt(owner: SessionOwner): Session {
    const parked = [...this.#entries.values()].filter(entry => entry.state.kind === 'parked' && entry.served.hasTask)
    const only = parked[0]
    if (only === undefined) throw refuse.noTask()
    if (parked.length > 1) throw refuse.manyParked(parked.map(entry => entry.id).sort())
    only.state = { kind: 'live', owner }
    return only
  }

  park(session: Session): void {
    const entry = this.#entries.get(session.id)
    if (entry?.state.kind === 'live') entry.state = { kind: 'parked' }
  }

  /** What a dropped connection does to its session: a task in progress keeps it, parked; anything else ends it. */
  leave(session: Session, ephemeral: boolean): void {
    if (session.served.hasTask && !ephemeral) this.park(session)
    else this.end(session.id).catch(error => this.#options.onError(sessionNotClosed(session.id, error)))
  }

  /** Ends a session in whatever state; nothing to do is fine. Rejects when it could not be closed cleanly. */
  async end(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry !== undefined) await this.#end(entry)
  }

  /** Ends all sessions, and lets no more in. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#opening.values())
    await Promise.all(
      [...this.#entries.values()].map(entry =>
        this.#end(entry).catch(error => this.#options.onError(sessionNotClosed(entry.id, error))),
      ),
    )
  }

  #end(entry: Entry): Promise<void> {
    if (entry.state.kind === 'ending') return entry.state.ended
    const before = entry.state
    const ended = this.#close(entry)
    entry.state = { kind: 'ending', ended }
    if (before.kind === 'live') before.owner.cut(entry)
    return ended
  }

  async #close(entry: Entry): Promise<void> {
    const { clock, closeMs } = this.#options
    let cancel = () => {}
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(closeMs, () => reject(new Error(`closing took longer than ${closeMs} ms`)))
    })
    try {
      await Promise.race([entry.served.close(), late])
    } finally {
      cancel()
      this.#entries.delete(entry.id)
    }
  }

  #newId(): string {
    for (;;) {
      // Drawn many at a time: asking the system for random bytes costs more than the rest of an idle session.
      if (this.#ids.length === 0) this.#ids = this.#options.ids.hex(4 * 64)
      const id = `sess-${this.#ids.slice(0, 8)}`
      this.#ids = this.#ids.slice(8)
      if (!this.#entries.has(id) && !this.#opening.has(id)) return id
    }
  }
}
