import { type Clock, systemClock } from '../clock.ts'
import { hasTag } from '../errors.ts'
import { type Address, addressKey } from './address.ts'
import { Connection } from './connection.ts'
import { RemoteSession } from './control-session.ts'
import { dial } from './dial.ts'
import { clientClosed, connectTimeout, dialFailed, sessionLost } from './errors.ts'
import { helloParams, METHOD, withToken } from './extension.ts'
import { MAX_FRAME_BYTES } from './frame.ts'
import { HEARTBEAT_MS } from './heartbeat.ts'
import { parseWelcome, type Welcome } from './hello.ts'
import { Limit } from './limit.ts'
import { Peer } from './peer.ts'
import type { ConnectOptions, ControlClient, ControlSession } from './session.ts'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

export interface ControlClientOptions {
  /** `never`: a connection for each session. `auto`: sessions with a peer that is ours share a few. Default `auto`. */
  readonly multiplex?: 'auto' | 'never'
  /** Shared connections a peer. Default 2. */
  readonly maxShared?: number
  /** The longest frame read. Default 16 MiB. */
  readonly maxFrameBytes?: number
  /** Times shared connections: their heartbeat, and how long an idle one is kept. Default the system's. */
  readonly clock?: Clock
}

export interface TroupeControlClient extends ControlClient {
  /**
   * Ends a session, parked or live on whatever connection, for one who cleans up after somebody else. True once the peer has none of that id; false
   * where the peer did not confirm it within `deadlineMs`. Never rejects.
   */
  endSession(address: Address, sessionId: string, deadlineMs: number): Promise<boolean>
}

export function makeControlClient(options: ControlClientOptions = {}): TroupeControlClient {
  return new Client(options)
}

class Client implements TroupeControlClient {
  readonly #shares: boolean
  readonly #maxShared: number
  readonly #maxFrameBytes: number
  readonly #clock: Clock
  readonly #peers = new Map<string, Peer>()
  readonly #connections = new Set<Connection>()
  #closed = false

  constructor(options: ControlClientOptions) {
    this.#shares = options.multiplex !== 'never'
    this.#maxShared = options.maxShared ?? 2
    this.#maxFrameBytes = options.maxFrameBytes ?? MAX_FRAME_BYTES
    this.#clock = options.clock ?? systemClock
  }

  async connect(address: Address, options: ConnectOptions): Promise<ControlSession> {
    let tries = 0
    let last: unknown
    const late = () => connectTimeout(address, options.deadlineMs, tries, last)
    const limit = new Limit(options.clock, options.deadlineMs, options.signal, late)
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
        if (this.#closed) throw clientClosed(address)
        tries += 1
        try {
          const session = await this.#try(address, options, limit)
          if (!options.signal?.aborted) return session
          // Whoever gave up is not going to take it.
          session.abort()
          throw options.signal.reason
        } catch (error) {
          if (!isNotReady(error) || isGone(address, error) || this.#closed) throw error
          last = error
        }
        await limit.pause(pauseMs)
      }
    } finally {
      limit.release()
    }
  }

  async endSession(address: Address, sessionId: string, deadlineMs: number): Promise<boolean> {
    const limit = new Limit(this.#clock, deadlineMs, undefined, () => sessionLost(address, 'no answer in time'))
    let own: Connection | undefined
    try {
      const shared = this.#peer(address).pick()
      const connection = shared ?? (await this.#open(address, limit))
      if (shared === undefined) own = connection
      await limit.race(connection.request(METHOD.end, withToken({ session_id: sessionId }, address.token), 0))
      return true
    } catch (error) {
      // A peer that is not ours lets a parked session be resumed, and a resumed one be ended.
      return isUnknownMethod(error) ? await this.#resumeAndEnd(address, sessionId, deadlineMs) : false
    } finally {
      limit.release()
      own?.leave()
      this.#forget(this.#peer(address))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const connection of [...this.#connections]) connection.abort(clientClosed(connection.address))
  }

  async #resumeAndEnd(address: Address, sessionId: string, deadlineMs: number): Promise<boolean> {
    try {
      const session = await this.connect(address, { clock: this.#clock, deadlineMs, sessionId })
      return await session.end()
    } catch {
      // Unknown, live elsewhere or unreachable: in each case not confirmed.
      return false
    }
  }

  async #try(address: Address, options: ConnectOptions, limit: Limit): Promise<ControlSession> {
    const peer = this.#peer(address)
    try {
      if (!this.#shares || peer.declines) return await this.#openSession(peer, address, options, limit, false)
      const shared = peer.pick()
      if (shared !== undefined) return await this.#greet(shared, shared.newChannel(), options, limit)
      // The first connection finds out whether it can be shared; the others wait for that rather than be too many.
      if (peer.opening !== undefined) {
        const failed = await limit.race(peer.opening)
        // Without this each of them would try at once, and a server that is still to come be hammered.
        if (failed !== undefined) throw isNotReady(failed) ? failed : dialFailed(address, failed)
        return await this.#try(address, options, limit)
      }
      const session = this.#openSession(peer, address, options, limit, true)
      peer.opening = session.then(
        () => undefined,
        (error: unknown) => error,
      )
      try {
        return await session
      } finally {
        peer.opening = undefined
      }
    } finally {
      this.#forget(peer)
    }
  }

  async #openSession(peer: Peer, address: Address, options: ConnectOptions, limit: Limit, share: boolean) {
    const connection = await this.#open(address, limit)
    const welcome = await this.#hello(connection, 0, options, limit, share).catch((error: unknown) => {
      connection.abort(sessionLost(address, 'the hello failed', error))
      throw error
    })
    connection.accept(welcome.grant)
    if (welcome.grant?.multiplex === true) {
      peer.share(connection)
      return this.#session(connection, 0, welcome, options, () => peer.rest(connection))
    }
    if (share) peer.declines = true
    peer.singles += 1
    return this.#session(connection, 0, welcome, options, () => {
      peer.singles -= 1
      this.#forget(peer)
    })
  }

  async #greet(connection: Connection, channel: number, options: ConnectOptions, limit: Limit) {
    const peer = this.#peer(connection.address)
    connection.attach(channel, placeholder)
    peer.keep(connection)
    try {
      const welcome = await this.#hello(connection, channel, options, limit, true)
      return this.#session(connection, channel, welcome, options, () => peer.rest(connection))
    } catch (error) {
      connection.notify(METHOD.hangUp, channel)
      connection.detach(channel)
      peer.rest(connection)
      throw error
    }
  }

  async #hello(
    connection: Connection,
    channel: number,
    options: ConnectOptions,
    limit: Limit,
    multiplex: boolean,
  ): Promise<Welcome> {
    const offer = { version: 1, multiplex, ephemeral: options.ephemeral === true } as const
    const { token } = connection.address
    const params = helloParams(options.sessionId, offer, { token, traceparent: options.traceparent })
    return parseWelcome(connection.address, await limit.race(connection.request(METHOD.hello, params, channel)))
  }

  #session(connection: Connection, channel: number, welcome: Welcome, options: ConnectOptions, onDone: () => void) {
    return new RemoteSession(connection, channel, welcome, {
      clock: options.clock,
      heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
      resumed: options.sessionId !== undefined,
      onDone,
    })
  }

  async #open(address: Address, limit: Limit): Promise<Connection> {
    const socket = await dial(address, limit, this.#maxFrameBytes)
    const connection = new Connection(socket, {
      address,
      clock: this.#clock,
      maxFrameBytes: this.#maxFrameBytes,
      onGone: gone => {
        this.#connections.delete(gone)
        const peer = this.#peers.get(addressKey(address))
        peer?.remove(gone)
        if (peer !== undefined) this.#forget(peer)
      },
    })
    this.#connections.add(connection)
    if (this.#closed) connection.abort(clientClosed(address))
    return connection
  }

  #peer(address: Address): Peer {
    const key = addressKey(address)
    let peer = this.#peers.get(key)
    if (peer === undefined) {
      peer = new Peer(key, { maxShared: this.#maxShared, clock: this.#clock })
      this.#peers.set(key, peer)
    }
    return peer
  }

  #forget(peer: Peer): void {
    if (peer.idle && this.#peers.get(peer.key) === peer) this.#peers.delete(peer.key)
  }
}

/** Holds a channel's place between its `hello` and its session. */
const placeholder = { onLost: () => {} }

/** A forwarded port may accept before anything serves behind it: a connection that dies at the handshake says "not yet". */
function isNotReady(error: unknown): boolean {
  return hasTag(error, 'dial-failed') || hasTag(error, 'session-lost')
}

/** A socket file is there before its path is told to anybody: where nobody listens to it, its server has ended, and none will come. */
function isGone({ kind }: Address, error: unknown): boolean {
  if (kind !== 'unix' || !hasTag(error, 'dial-failed')) return false
  const why = error.data.cause?.tag
  return why === 'enoent' || why === 'econnrefused'
}

function isUnknownMethod(error: unknown): boolean {
  return hasTag(error, 'remote-error') && error.data.details?.code === -32601
}
