import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** The longest message sent. Far below any peer's or proxy's limit, so that a long frame passes wherever a short one does. */
export const MESSAGE_BYTES = 64 * 1024
/** How long a peer that was told of the end may take to answer. */
const CLOSE_MS = 10_000

/** Close codes that say "the end" rather than that something broke: normal, going away, none given. */
const ORDERLY_CODES: readonly number[] = [1000, 1001, 1005]

/** What both ends want of `ws`: bytes as they are. Lines are checked for UTF-8 where they are read. */
export const WEBSOCKET_OPTIONS = { perMessageDeflate: false, skipUTF8Validation: true, closeTimeout: CLOSE_MS } as const

/**
 * A byte stream over an open WebSocket, which it owns: the payloads of messages, binary or text, in a row; where one message ends says nothing.
 *
 * A WebSocket cannot be half-closed (RFC 6455, 5.5.1: a close is answered by a close). So an end ends both directions: all that was written
 * before it arrives, and so does what the other end had sent until it learned of it; what is written after that is dropped without a word,
 * and the stream then ends and closes. Whoever ends first must expect no further answer.
 *
 * A connection that breaks, without the closing handshake, is an error, also when the socket underneath ended in order: a proxy may have ended it.
 */
export class WebSocketStream extends Duplex {
  readonly #websocket: WebSocket
  #problem: Error | undefined
  /** The end has been sent and waits for the peer's. */
  #ended: (() => void) | undefined

  constructor(websocket: WebSocket) {
    super({ allowHalfOpen: false, readableHighWaterMark: MESSAGE_BYTES })
    this.#websocket = websocket
    websocket.on('message', data => this.#receive(data))
    websocket.on('error', error => {
      this.#problem ??= error
    })
    websocket.once('close', code => this.#close(code))
  }

  override _read(): void {
    if (this.#websocket.isPaused) this.#websocket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(chunk, done)
  }

  override _writev(writes: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(writes.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.#ended = done
    if (this.#websocket.readyState === this.#websocket.CLOSED) done()
    else this.#websocket.close(1000)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#websocket.terminate()
    done(error)
  }

  /** A failed write shows as the connection's close, after all that came before has been read. */
  #send(bytes: Buffer, done: () => void): void {
    const websocket = this.#websocket
    if (websocket.readyState !== websocket.OPEN) {
      done()
      return
    }
    let at = 0
    for (; bytes.length - at > MESSAGE_BYTES; at += MESSAGE_BYTES)
      websocket.send(bytes.subarray(at, at + MESSAGE_BYTES), ignoreFailed)
    websocket.send(bytes.subarray(at), () => done())
  }

  #receive(data: unknown): void {
    if (this.destroyed || !(data instanceof Buffer)) return
    if (!this.push(data)) this.#websocket.pause()
  }

  #close(code: number): void {
    if (this.#problem === undefined && ORDERLY_CODES.includes(code)) {
      this.push(null)
      this.#ended?.()
    } else this.destroy(this.#problem ?? new Error(`the WebSocket closed with code ${code}`))
  }
}

/** The callback of the last piece tells. */
function ignoreFailed(): void {}
