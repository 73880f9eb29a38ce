import type { MessagePort } from 'node:worker_threads'
import type { ErrorData } from '../errors.ts'
import type { Link } from '../kernel/link.ts'

interface PortLinkOptions {
  readonly peer: string
  readonly uplink?: boolean
  /**
   * Hears that the port closed, in the place of the link's own close handlers. The pool waits here for the reason, which
   * comes by another way a moment later.
   */
  readonly onLost?: () => void
}

/** Batches with attachments travel as one array; those without, which are the most, as their bytes alone. */
type PortMessage = Uint8Array | [Uint8Array, ArrayBuffer[]]

/** Below this a clone takes less time than a hand-over. */
const MIN_HANDED_OVER_BYTES = 1_024

/** A link through a message port: buffers are handed over, not cloned, except the small ones. */
export function makePortLink(port: MessagePort, options: PortLinkOptions): Link {
  let receive: ((bytes: Uint8Array, attachments: ArrayBuffer[]) => void) | undefined
  let closed: ((error?: ErrorData) => void) | undefined
  let closedHere = false
  port.on('message', (message: PortMessage) => {
    if (message instanceof Uint8Array) receive?.(message, [])
    else receive?.(message[0], message[1])
  })
  port.on('close', () => {
    if (closedHere) return
    closedHere = true
    if (options.onLost === undefined) closed?.()
    else options.onLost()
  })
  return {
    peer: options.peer,
    ...(options.uplink === undefined ? {} : { uplink: options.uplink }),
    post(bytes, attachments) {
      const own = bytes.buffer as ArrayBuffer
      if (attachments.length > 0) port.postMessage([bytes, attachments] satisfies PortMessage, [own, ...attachments])
      else if (bytes.length < MIN_HANDED_OVER_BYTES) port.postMessage(bytes)
      else port.postMessage(bytes, [own])
    },
    onMessage(handler) {
      receive = handler
    },
    onClose(handler) {
      closed = handler
    },
    close() {
      closedHere = true
      port.close()
    },
  }
}
