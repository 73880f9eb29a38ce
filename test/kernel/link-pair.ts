import type { Link } from '../../src/kernel/link.ts'

interface End extends Link {
  /** Makes the link fail for this end, as a crash of the other does. */
  fail(): void
}

/** Two ends of a link in one thread; what is posted arrives in a microtask, in its order. */
export function makeLinkPair(left: string, right: string, options: { readonly uplink?: boolean } = {}): [End, End] {
  const ends: [End, End] = [makeEnd(right, false), makeEnd(left, options.uplink ?? false)]
  return ends

  function makeEnd(
    peer: string,
    uplink: boolean,
  ): End & { deliver(bytes: Uint8Array, attachments: ArrayBuffer[]): void } {
    let receive: (bytes: Uint8Array, attachments: ArrayBuffer[]) => void = () => {}
    let closed: () => void = () => {}
    let open = true
    const end = {
      peer,
      uplink,
      deliver: (bytes: Uint8Array, attachments: ArrayBuffer[]) => receive(bytes, attachments),
      post(bytes: Uint8Array, attachments: ArrayBuffer[]) {
        const [first, second] = ends as [typeof end, typeof end]
        const other = first === end ? second : first
        const moved = structuredClone(
          { bytes, attachments },
          { transfer: [bytes.buffer as ArrayBuffer, ...attachments] },
        )
        queueMicrotask(() => {
          if (open) other.deliver(moved.bytes, moved.attachments)
        })
      },
      onMessage(handler: typeof receive) {
        receive = handler
      },
      onClose(handler: typeof closed) {
        closed = handler
      },
      close() {
        open = false
      },
      fail() {
        closed()
      },
    }
    return end
  }
}
