import type { NatsConnection, Subscription } from '@nats-io/transport-node'
import type { ErrorData } from '../errors.ts'
import type { Connection, Link } from '../kernel/link.ts'
import type { ActorSystem } from '../kernel/system.ts'
import { pack, unpackFields } from './codec.ts'
import { badClusterMessage, linkGap, linkReset } from './errors.ts'
import { nodeSubject } from './names.ts'

/** Links between the actor systems of several processes, over NATS: what is told to an actor of another node is a message on that node's subject. */
export interface NodeLinks {
  /** A link to that node, for the system to use; the one that there is, where it began this side's. */
  connect(peer: string): void
  /** Takes the link to a node down, if there is one. Whoever watches an actor there hears of it. */
  drop(peer: string, error: ErrorData): void
  /** Takes all of them down, and hears nothing more. */
  close(): void
}

/**
 * NATS keeps the order of what one connection sends, but may lose some of it when a connection breaks. Frames are numbered, and each side of a link has an id of its
 * own: what is missing takes the link down on both sides, and what an earlier link sent is not heard by a later one.
 */
interface Frame {
  readonly from: string
  /** Of the sender's side. */
  readonly side: string
  /** Of the receiver's, as far as the sender knows it: empty before it has heard of it. */
  readonly to: string
  /** From 1; 0 says that the sender's side is no more. */
  readonly number: number
  readonly bytes: Uint8Array
  readonly attachments: readonly Uint8Array[]
}

interface LinkPorts {
  readonly connection: NatsConnection
  readonly own: string
  readonly peer: string
  readonly side: string
  onGone(): void
}

const NOTHING = new Uint8Array(0)

/** `makeSide`: a word that no other side of a link has. */
export function openNodeLinks(
  connection: NatsConnection,
  system: ActorSystem,
  makeSide: () => string,
  onError: (error: unknown) => void,
): NodeLinks {
  const links = new Map<string, { readonly link: NatsLink; readonly connection: Connection }>()
  const subject = nodeSubject(system.node)
  const subscription: Subscription = connection.subscribe(subject, {
    callback(error, message) {
      try {
        if (error !== null) throw error
        receive(parseFrame(subject, message.data))
      } catch (thrown) {
        onError(thrown)
      }
    },
  })

  function connect(peer: string): void {
    if (!links.has(peer)) open(peer)
  }

  function open(peer: string): NatsLink {
    const link = new NatsLink({
      connection,
      own: system.node,
      peer,
      side: makeSide(),
      onGone() {
        if (links.get(peer)?.link === link) links.delete(peer)
      },
    })
    links.set(peer, { link, connection: system.connect(link) })
    return link
  }

  function receive(frame: Frame): void {
    const known = links.get(frame.from)?.link
    // What was meant for an earlier side of ours is stale.
    if (frame.to !== '' && frame.to !== known?.side) return
    if (frame.number === 0) {
      if (known?.isFrom(frame)) known.lose(linkReset(frame.from))
      return
    }
    if (known?.isFrom(frame)) known.receive(frame)
    else if (frame.number === 1) {
      known?.lose(linkReset(frame.from))
      open(frame.from).receive(frame)
    }
    // Its beginning was lost, or was for a process before this one.
    else refuse(frame)
  }

  function refuse({ from, side }: Frame): void {
    const end = { from: system.node, side: '', to: side, number: 0, bytes: NOTHING, attachments: [] }
    sendFrame(connection, from, end)
  }

  return {
    connect,
    drop: (peer, error) => links.get(peer)?.link.lose(error),
    close() {
      for (const { connection } of [...links.values()]) connection.close()
      subscription.unsubscribe()
    },
  }
}

class NatsLink implements Link {
  readonly peer: string
  readonly side: string
  readonly #ports: LinkPorts
  #far = ''
  #sent = 0
  #received = 0
  #isOver = false
  #receive: (bytes: Uint8Array, attachments: ArrayBuffer[]) => void = () => {}
  #closed: (error?: ErrorData) => void = () => {}

  constructor(ports: LinkPorts) {
    this.#ports = ports
    this.peer = ports.peer
    this.side = ports.side
  }

  /** Whether it is of the side that this link is with, or of the first that it hears of; or says that this side is not known there. */
  isFrom({ side, to }: Frame): boolean {
    return this.#far === '' || this.#far === side || (side === '' && to === this.side)
  }

  receive({ side, number, bytes, attachments }: Frame): void {
    if (number !== this.#received + 1) {
      this.lose(linkGap(this.peer))
      return
    }
    this.#far = side
    this.#received = number
    this.#receive(bytes, attachments.map(toOwnBuffer))
  }

  post(bytes: Uint8Array, attachments: ArrayBuffer[]): void {
    if (this.#isOver) return
    this.#sent += 1
    this.#send(
      this.#sent,
      bytes,
      attachments.map(buffer => new Uint8Array(buffer)),
    )
  }

  onMessage(handler: (bytes: Uint8Array, attachments: ArrayBuffer[]) => void): void {
    this.#receive = handler
  }

  onClose(handler: (error?: ErrorData) => void): void {
    this.#closed = handler
  }

  close(): void {
    if (this.#end()) this.#send(0, NOTHING, [])
  }

  /** The link is down, and this side did not want it. */
  lose(error: ErrorData): void {
    if (!this.#end()) return
    this.#send(0, NOTHING, [])
    this.#closed(error)
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#ports.onGone()
    return true
  }

  #send(number: number, bytes: Uint8Array, attachments: readonly Uint8Array[]): void {
    const { connection, own, peer, side } = this.#ports
    sendFrame(connection, peer, { from: own, side, to: this.#far, number, bytes, attachments })
  }
}

function sendFrame(connection: NatsConnection, peer: string, frame: Frame): void {
  // A connection that is closed takes nothing with it that anybody waits for: asks have deadlines.
  if (!connection.isClosed()) connection.publish(nodeSubject(peer), pack(frame))
}

function parseFrame(subject: string, bytes: Uint8Array): Frame {
  const fields = unpackFields(subject, bytes)
  const isFrame =
    typeof fields.from === 'string' &&
    typeof fields.side === 'string' &&
    typeof fields.to === 'string' &&
    typeof fields.number === 'number' &&
    fields.bytes instanceof Uint8Array &&
    Array.isArray(fields.attachments)
  if (!isFrame) throw badClusterMessage(subject, 'it is no frame of a link')
  return fields as unknown as Frame
}

/** Attachments are handed over whole: each owns its buffer. */
function toOwnBuffer(bytes: Uint8Array): ArrayBuffer {
  const own = new Uint8Array(bytes.byteLength)
  own.set(bytes)
  return own.buffer
}
