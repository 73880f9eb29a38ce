import type { Duplex } from 'node:stream'
import { type Grant, METHOD, type Offer, parseToken } from '../wire/extension.ts'
import { checkFrameSize, describeProblem, type FrameProblem } from '../wire/frame.ts'
import { type FrameListener, FrameSocket } from '../wire/frame-socket.ts'
import {
  errorText,
  type JsonObject,
  parseRequest,
  RPC,
  type RpcId,
  RpcRefusal,
  type RpcRequest,
  requestText,
  resultText,
  toId,
} from '../wire/json-rpc.ts'
import { Channel, type ChannelLink, type ChannelPorts } from './server-channel.ts'
import { refuse, toRefusal } from './server-errors.ts'
import { STRANGER_FRAME_BYTES } from './server-gate.ts'
import { serveTunnel } from './server-tunnel.ts'

/** Sessions of one connection, those that were refused counted until they hang up. */
export const MAX_CHANNELS = 16_384

export interface ConnectionPorts extends ChannelPorts {
  /** The longest frame read, and written to a peer that is ours. */
  readonly maxFrameBytes: number
  /** The longest frame written to any other peer. */
  readonly foreignFrameBytes: number
}

/** One accepted connection. Its first frame decides what it is: a capability stream, or a control session, or several of ours. */
export class ServerConnection implements FrameListener, ChannelLink {
  readonly #ports: ConnectionPorts
  readonly #frames: FrameSocket
  readonly #channels = new Map<number, Channel>()
  #ours = false
  #shared = false
  #first = true
  #peerEnded = false
  /** Undefined once the peer has shown the token, or where none is wanted. */
  #opens: ((token: string | undefined) => boolean) | undefined

  /** With `opens`, nothing is answered before a first frame whose token it takes. */
  constructor(socket: Duplex, ports: ConnectionPorts, opens?: (token: string | undefined) => boolean) {
    this.#ports = ports
    this.#opens = opens
    const maxFrameBytes =
      opens === undefined ? ports.maxFrameBytes : Math.min(STRANGER_FRAME_BYTES, ports.maxFrameBytes)
    this.#frames = new FrameSocket(socket, { clock: ports.clock, maxFrameBytes, listener: this })
  }

  get ours(): boolean {
    return this.#ours
  }

  accept(offer: Offer): Grant {
    this.#ours = true
    if (offer.multiplex && !this.#shared) {
      this.#shared = true
      this.#frames.batch()
    }
    const grant = { version: 1, multiplex: this.#shared, maxFrameBytes: this.#ports.maxFrameBytes } as const
    return this.#ports.tracer === undefined ? grant : { ...grant, traces: true }
  }

  reply(id: RpcId | undefined, result: unknown): void {
    if (id === undefined) return
    const text = resultText(id, result)
    checkFrameSize(text, this.#ours ? this.#ports.maxFrameBytes : this.#ports.foreignFrameBytes, 'the response')
    this.#frames.send(text)
  }

  refuse(id: RpcId | undefined, refusal: RpcRefusal): void {
    if (id === undefined) return
    const text = errorText(id, refusal.code, refusal.message, refusal.data)
    try {
      checkFrameSize(text, this.#ports.foreignFrameBytes, 'the error')
      this.#frames.send(text)
    } catch (error) {
      this.#frames.send(errorText(id, RPC.failed, toRefusal(error).message))
    }
  }

  abort(refusal: RpcRefusal): void {
    this.#frames.send(errorText(undefined, refusal.code, refusal.message, refusal.data))
    this.#frames.end()
    this.#hangUp()
  }

  destroy(): void {
    this.#frames.destroy()
  }

  channelEnded(channel: number, how: 'goodbye' | 'cut' | 'hung-up'): void {
    this.#channels.delete(channel)
    if (how === 'cut' && this.#shared) this.#frames.send(requestText(undefined, METHOD.cut, {}, channel))
    if (!this.#shared || (this.#peerEnded && this.#channels.size === 0)) this.#frames.end()
  }

  onFrame(message: JsonObject): void {
    if (this.#opens !== undefined && !this.#admit(this.#opens, message)) return
    let request: RpcRequest
    try {
      request = parseRequest(message)
    } catch (error) {
      const { code, message: text } = toRefusal(error)
      this.#frames.send(errorText(toId(message.id), code, text))
      return
    }
    const isFirst = this.#first
    this.#first = false
    if (isFirst && request.method === METHOD.tunnel) {
      serveTunnel(this.#ports.environment, this.#frames.release(), request)
      return
    }
    switch (request.method) {
      case METHOD.ping:
        this.reply(request.id, {})
        return
      case METHOD.end:
        this.#endSession(request)
        return
      case METHOD.hangUp:
        this.#channels.get(request.channel)?.receive('hang-up')
        return
      default:
        this.#channel(request)?.receive(request)
    }
  }

  onEnd(): void {
    this.#peerEnded = true
    if (this.#channels.size === 0) this.#frames.end()
    else this.#hangUp()
  }

  onProblem(problem: FrameProblem): void {
    if (this.#opens !== undefined) this.#turnAway(undefined)
    else this.abort(new RpcRefusal(codeOf(problem), describeProblem(problem)))
  }

  onClose(): void {
    this.#peerEnded = true
    this.#hangUp()
  }

  #admit(opens: (token: string | undefined) => boolean, message: JsonObject): boolean {
    if (!opens(parseToken(message.params))) {
      this.#turnAway(toId(message.id))
      return false
    }
    this.#opens = undefined
    this.#frames.limit(this.#ports.maxFrameBytes)
    return true
  }

  /** The one answer that a stranger gets, whatever it sent. */
  #turnAway(id: RpcId | undefined): void {
    const { code, message, data } = refuse.token()
    this.#frames.send(errorText(id, code, message, data))
    this.#frames.end()
  }

  #channel(request: RpcRequest): Channel | undefined {
    const known = this.#channels.get(request.channel)
    if (known !== undefined) return known
    if (request.channel !== 0 && !this.#shared) {
      this.refuse(request.id, refuse.noChannels())
      return undefined
    }
    // On a shared connection a session that is over is not begun again by a late request.
    if (this.#shared && request.method !== METHOD.hello) {
      this.refuse(request.id, refuse.noSession(request.method))
      return undefined
    }
    if (this.#channels.size >= MAX_CHANNELS) {
      this.refuse(request.id, refuse.tooManyChannels(MAX_CHANNELS))
      return undefined
    }
    const channel = new Channel(request.channel, this, this.#ports)
    this.#channels.set(request.channel, channel)
    return channel
  }

  #endSession({ id, params }: RpcRequest): void {
    const sessionId = params.session_id
    if (typeof sessionId !== 'string') {
      this.refuse(id, new RpcRefusal(RPC.invalidParams, "session.end: 'session_id' must be a string"))
      return
    }
    this.#ports.sessions.end(sessionId).then(
      () => this.reply(id, { ended: true }),
      (error: unknown) => this.refuse(id, toRefusal(error)),
    )
  }

  #hangUp(): void {
    for (const channel of [...this.#channels.values()]) channel.receive('hang-up')
  }
}

function codeOf(problem: FrameProblem): number {
  switch (problem.kind) {
    case 'too-large':
      return RPC.failed
    case 'not-utf8':
    case 'not-json':
      return RPC.parseError
    case 'not-an-object':
      return RPC.invalidRequest
  }
}
