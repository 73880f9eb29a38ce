import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import { type FrameProblem, FrameReader } from './frame.ts'
import type { JsonObject } from './json-rpc.ts'

/** Bytes that may wait to be written before the socket is read no further: a peer that does not read is not listened to. */
const WRITE_BACKLOG_BYTES = 1024 * 1024
/** How long a closed connection may take to carry its last bytes to the peer. */
const LINGER_MS = 2_000

export interface FrameListener {
  onFrame(message: JsonObject): void
  /** The peer sends frames no more, but may still read. */
  onEnd(): void
  /** What came cannot be read; nothing after it will be. */
  onProblem(problem: FrameProblem): void
  /** The last call. */
  onClose(error: Error | undefined): void
}

/** Frames over a socket that it owns, each way: one without Nagle's delay, or a WebSocket's stream. */
export class FrameSocket {
  readonly #socket: Duplex
  readonly #clock: Clock
  readonly #reader: FrameReader
  readonly #listener: FrameListener
  #waiting = ''
  #flushing = false
  #batched = false
  #reading = true
  #error: Error | undefined
  readonly #onData = (chunk: Buffer) => this.#read(chunk)
  readonly #onEnd = () => this.#listener.onEnd()
  readonly #onError = (error: Error) => {
    this.#error = error
  }
  readonly #onClose = () => {
    this.#reading = false
    this.#listener.onClose(this.#error)
  }

  constructor(socket: Duplex, options: { clock: Clock; maxFrameBytes: number; listener: FrameListener }) {
    this.#socket = socket
    this.#clock = options.clock
    this.#reader = new FrameReader(options.maxFrameBytes)
    this.#listener = options.listener
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** From here on, what is sent in one turn of the event loop leaves in one write: worth it where sessions share the socket. */
  batch(): void {
    this.#batched = true
  }

  /** The longest frame read from here on. */
  limit(maxFrameBytes: number): void {
    this.#reader.limit(maxFrameBytes)
  }

  /** Dropped when the connection can no longer be written to; `onClose` says so. */
  send(text: string): void {
    if (!this.#batched) {
      this.#write(text)
      return
    }
    this.#waiting += text
    if (this.#flushing) return
    this.#flushing = true
    setImmediate(this.#flush)
  }

  /** Sends what waits, closes this end and cuts the connection if the peer has not done the same in 2 s. Nothing more is read. */
  end(): void {
    this.#flush()
    this.#reading = false
    const socket = this.#socket
    if (socket.destroyed || socket.writableEnded) return
    socket.end()
    socket.resume()
    if (socket.readableEnded) return
    const cancel = this.#clock.after(LINGER_MS, () => socket.destroy())
    socket.once('close', cancel)
  }

  destroy(): void {
    this.#reading = false
    this.#socket.destroy()
  }

  /** Gives the socket up: the connection is a raw stream from here on, its first bytes, read too far, are put back. */
  release(): Duplex {
    this.#flush()
    this.#reading = false
    const socket = this.#socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
    socket.pause()
    const rest = this.#reader.rest()
    if (rest.length > 0) socket.unshift(rest)
    return socket
  }

  readonly #flush = () => {
    this.#flushing = false
    if (this.#waiting === '') return
    const text = this.#waiting
    this.#waiting = ''
    this.#write(text)
  }

  #write(text: string): void {
    const socket = this.#socket
    if (!socket.writable) return
    socket.write(text)
    if (socket.writableLength <= WRITE_BACKLOG_BYTES || socket.isPaused()) return
    socket.pause()
    socket.once('drain', () => socket.resume())
  }

  #read(chunk: Buffer): void {
    if (!this.#reading) return
    this.#reader.push(chunk)
    while (this.#reading) {
      const read = this.#reader.next()
      if (read === undefined) return
      if (read.kind === 'frame') {
        this.#listener.onFrame(read.message)
        continue
      }
      this.#reading = false
      this.#listener.onProblem(read.problem)
    }
  }
}
