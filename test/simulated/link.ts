import type { ErrorData } from '../../src/errors.ts'
import type { Link } from '../../src/kernel/link.ts'
import type { SimulatedNode } from './node.ts'

type Parcel =
  | { readonly type: 'batch'; readonly bytes: Uint8Array; readonly attachments: ArrayBuffer[] }
  | { readonly type: 'closed' }

/** One way of a link: parcels arrive late, and always in their order. */
class Way {
  readonly #to: SimulatedNode
  readonly #delayMs: () => number
  readonly #parcels: Parcel[] = []
  #arrive: (parcel: Parcel) => void = () => {}

  constructor(to: SimulatedNode, delayMs: () => number) {
    this.#to = to
    this.#delayMs = delayMs
  }

  onParcel(arrive: (parcel: Parcel) => void): void {
    this.#arrive = arrive
  }

  send(parcel: Parcel): void {
    this.#parcels.push(parcel)
    // Whichever of them is due first brings the first parcel: a slow one holds up those behind it.
    this.#to.at(this.#delayMs(), 'receives', () => {
      const first = this.#parcels.shift()
      if (first !== undefined) this.#arrive(first)
    })
  }

  /** The end that sends is gone: so many of those on their way still arrive. */
  keep(count: number): void {
    this.#parcels.length = Math.min(this.#parcels.length, count)
  }

  get size(): number {
    return this.#parcels.length
  }
}

export interface SimulatedLink {
  /** The main thread's end. */
  readonly near: Link
  readonly far: Link
  /** Batches that the far end has sent and that have not arrived. */
  readonly arriving: number
  /** The far end is gone without a word; `kept` of its batches still arrive, and then `onLost` is heard. */
  break(kept: number): void
}

interface LinkOptions {
  readonly main: SimulatedNode
  readonly thread: SimulatedNode
  readonly delayMs: () => number
  /** Heard on the main thread, once: everything that was sent has arrived, and no more will. */
  readonly onLost: () => void
}

export function makeSimulatedLink({ main, thread, delayMs, onLost }: LinkOptions): SimulatedLink {
  const toMain = new Way(main, delayMs)
  const toThread = new Way(thread, delayMs)
  return {
    near: makeEnd({ peer: thread.name, out: toThread, into: toMain, onLost }),
    far: { ...makeEnd({ peer: main.name, out: toMain, into: toThread }), uplink: true },
    get arriving() {
      return toMain.size
    },
    break(kept) {
      toMain.keep(kept)
      toMain.send({ type: 'closed' })
    },
  }
}

function makeEnd({ peer, out, into, onLost }: { peer: string; out: Way; into: Way; onLost?: () => void }): Link {
  let receive: (bytes: Uint8Array, attachments: ArrayBuffer[]) => void = () => {}
  let lost: (error?: ErrorData) => void = () => {}
  let isOpen = true
  into.onParcel(parcel => {
    if (!isOpen) return
    if (parcel.type === 'batch') {
      receive(parcel.bytes, parcel.attachments)
      return
    }
    isOpen = false
    if (onLost === undefined) lost()
    else onLost()
  })
  return {
    peer,
    post(bytes, attachments) {
      if (!isOpen) return
      // Handed over, so that a sender who goes on using them finds them empty.
      const moved = attachments.length === 0 ? attachments : structuredClone(attachments, { transfer: attachments })
      out.send({ type: 'batch', bytes, attachments: moved })
    },
    onMessage(handler) {
      receive = handler
    },
    onClose(handler) {
      lost = handler
    },
    close() {
      if (!isOpen) return
      isOpen = false
      out.send({ type: 'closed' })
    },
  }
}
