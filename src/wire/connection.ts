import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import type { TroupeError } from '../errors.ts'
import type { Address } from './address.ts'
import { notSendable, protocolError, remoteError, sessionLost } from './errors.ts'
import { type Grant, METHOD } from './extension.ts'
import { checkFrameSize, describeProblem, type FrameProblem, MAX_FOREIGN_FRAME_BYTES } from './frame.ts'
import { type FrameListener, FrameSocket } from './frame-socket.ts'
import { type JsonObject, parseReply, requestText } from './json-rpc.ts'

/** Why there is no going on. Built when somebody asks, since an error costs a stack trace and most sessions end in order. */
export type Lost = () => TroupeError

/** What a connection tells the sessions that live on it. */
export interface ConnectionUser {
  /** The session is gone, alone or with its connection. */
  onLost(lost: Lost): void
}

interface PendingCall {
  readonly method: string
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** The client's end of one connection: requests and replies, for one session or for several that share it. */
export class Connection implements FrameListener {
  readonly address: Address
  readonly #frames: FrameSocket
  readonly #calls = new Map<number, PendingCall>()
  readonly #users = new Map<number, ConnectionUser>()
  readonly #onGone: (connection: Connection) => void
  #nextId = 1
  #nextChannel = 1
  /** Undefined until `hello` has been answered, and for good where the peer is not ours. */
  grant: Grant | undefined
  #lost: Lost | undefined

  /** `onGone` is called once, when the socket has closed. */
  constructor(
    socket: Duplex,
    options: {
      address: Address
      clock: Clock
      maxFrameBytes: number
      onGone: (connection: Connection) => void
    },
  ) {
    this.address = options.address
    this.#onGone = options.onGone
    this.#frames = new FrameSocket(socket, {
      clock: options.clock,
      maxFrameBytes: options.maxFrameBytes,
      listener: this,
    })
  }

  /** Why no call can be made any more; undefined while the connection is up. */
  get lost(): Lost | undefined {
    return this.#lost
  }

  get users(): number {
    return this.#users.size
  }

  /** Takes what the server granted; from here on the connection is shared, if it was agreed. */
  accept(grant: Grant | undefined): void {
    this.grant = grant
    if (grant?.multiplex === true) this.#frames.batch()
  }

  newChannel(): number {
    return this.#nextChannel++
  }

  attach(channel: number, user: ConnectionUser): void {
    this.#users.set(channel, user)
  }

  detach(channel: number): void {
    this.#users.delete(channel)
  }

  /** Rejects with `remote-error`, `session-lost`, `protocol-error`, `frame-too-large` or `not-json`. */
  request(method: string, params: JsonObject, channel: number): Promise<JsonObject> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost())
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      this.#frames.send(this.#toFrame(id, method, params, channel))
      this.#calls.set(id, { method, resolve, reject })
    })
  }

  notify(method: string, channel: number): void {
    if (this.#lost === undefined) this.#frames.send(requestText(undefined, method, {}, channel))
  }

  /** Cuts the connection at once. */
  abort(error: TroupeError): void {
    this.#fail(() => error)
    this.#frames.destroy()
  }

  /** Leaves the closing to the peer, which has said goodbye, for 2 s at most: its port, not ours, then waits out TIME_WAIT. */
  leave(): void {
    this.#fail(() => sessionLost(this.address, 'it was ended here'))
    this.#frames.end()
  }

  onFrame(message: JsonObject): void {
    if (message.method === METHOD.cut) {
      const channel = typeof message.ch === 'number' ? message.ch : 0
      const user = this.#users.get(channel)
      this.#users.delete(channel)
      user?.onLost(() => sessionLost(this.address, 'the peer ended it'))
      return
    }
    const reply = parseReply(message)
    if (reply === undefined) {
      // Dialling a free port of the ephemeral range, loopback now and then connects a socket to itself.
      const isEcho = message.method === METHOD.hello
      this.abort(
        isEcho
          ? sessionLost(this.address, 'it sent our own hello back')
          : protocolError(this.address, 'what it sent is neither a result object nor an error'),
      )
      return
    }
    const call = reply.id === undefined ? undefined : this.#calls.get(Number(reply.id))
    if (call === undefined || typeof reply.id !== 'number') {
      this.#failUnasked('error' in reply && reply.id === undefined ? reply.error : undefined, reply.id)
      return
    }
    this.#calls.delete(reply.id)
    if ('result' in reply) call.resolve(reply.result)
    else call.reject(remoteError(this.address, call.method, reply.error))
  }

  onEnd(): void {
    this.#fail(() => sessionLost(this.address, 'the peer closed the connection'))
    this.#frames.end()
  }

  onProblem(problem: FrameProblem): void {
    this.abort(protocolError(this.address, describeProblem(problem)))
  }

  onClose(error: Error | undefined): void {
    this.#fail(() => {
      const why = error === undefined ? 'the connection closed' : `the connection broke (${error.message})`
      return sessionLost(this.address, why, error)
    })
    this.#onGone(this)
  }

  /** A reply that belongs to no call: a peer that refuses the connection says so with the id null. */
  #failUnasked(error: Parameters<typeof remoteError>[2] | undefined, id: unknown): void {
    this.abort(
      error === undefined
        ? protocolError(this.address, `it answered a request that was never made (id ${JSON.stringify(id)})`)
        : remoteError(this.address, [...this.#calls.values()][0]?.method ?? 'connect', error),
    )
  }

  #toFrame(id: number, method: string, params: JsonObject, channel: number): string {
    let text: string
    try {
      text = requestText(id, method, params, channel)
    } catch (error) {
      throw notSendable(`the request ${method}`, error)
    }
    checkFrameSize(text, this.grant?.maxFrameBytes ?? MAX_FOREIGN_FRAME_BYTES, `the request ${method}`)
    return text
  }

  #fail(lost: Lost): void {
    if (this.#lost !== undefined) return
    this.#lost = lost
    const calls = [...this.#calls.values()]
    const users = [...this.#users.values()]
    this.#calls.clear()
    this.#users.clear()
    for (const call of calls) call.reject(lost())
    for (const user of users) user.onLost(lost)
  }
}
