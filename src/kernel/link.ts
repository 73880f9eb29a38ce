import type { ErrorData } from '../errors.ts'

/** A way to one other node that keeps the order of what it carries: a message port, a socket, a stream. */
export interface Link {
  /** The name of the node at the other end. */
  readonly peer: string
  /** What no other link reaches is sent here to be passed on: true on the side of a thread, which knows only its parent. */
  readonly uplink?: boolean
  /** Takes ownership of `bytes` and of every attachment: the sender must not touch them again. */
  post(bytes: Uint8Array, attachments: ArrayBuffer[]): void
  onMessage(handler: (bytes: Uint8Array, attachments: ArrayBuffer[]) => void): void
  /** Called once when the link is gone without `close` having been called on this side. */
  onClose(handler: (error?: ErrorData) => void): void
  close(): void
}

/** A link in use by a system. */
export interface Connection {
  /** Takes the link down: asks in flight over it reject and watchers hear `link-down`, with `error` as the cause. */
  close(error?: ErrorData): void
  /** Resolves when the link is down: with the error, or with undefined after a plain `close()`. */
  readonly closed: Promise<ErrorData | undefined>
}
