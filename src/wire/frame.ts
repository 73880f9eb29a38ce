import { isUtf8 } from 'node:buffer'
import { frameTooLarge } from './errors.ts'
import { isObject, type JsonObject } from './json-rpc.ts'

/** The longest line read, its newline not counted, where nothing else is said. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024

/** The longest line written to a peer that is not ours: what HUD's releases of 0.6.21 read. Older ones hang up at 64 KiB. */
export const MAX_FOREIGN_FRAME_BYTES = 16 * 1024 * 1024

const NEWLINE = 0x0a
const EMPTY = Buffer.alloc(0)

/** Why a stream of frames cannot be read on. */
export type FrameProblem =
  | { readonly kind: 'too-large'; readonly limitBytes: number }
  | { readonly kind: 'not-utf8' }
  | { readonly kind: 'not-json'; readonly detail: string }
  | { readonly kind: 'not-an-object' }

export type ReadFrame =
  | { readonly kind: 'frame'; readonly message: JsonObject }
  | { readonly kind: 'problem'; readonly problem: FrameProblem }

/** Cuts a byte stream into frames, one a line, however it was chopped up on the way. Holds at most one line of the limit. */
export class FrameReader {
  #maxBytes: number
  #chunk: Buffer = EMPTY
  #at = 0
  /** The beginning of a line whose end has not come yet; grows by doubling, so that single bytes cost no more than chunks. */
  #held: Buffer = EMPTY
  #heldBytes = 0
  #broken = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Another longest line from the next one on. */
  limit(maxBytes: number): void {
    this.#maxBytes = maxBytes
  }

  push(chunk: Buffer): void {
    this.#chunk = this.#at < this.#chunk.length ? Buffer.concat([this.#chunk.subarray(this.#at), chunk]) : chunk
    this.#at = 0
  }

  /** Undefined when the next line is not complete. After a problem there is nothing more to read. */
  next(): ReadFrame | undefined {
    if (this.#broken) return undefined
    const end = this.#chunk.indexOf(NEWLINE, this.#at)
    const size = this.#heldBytes + (end === -1 ? this.#chunk.length : end) - this.#at
    if (size > this.#maxBytes) return this.#fail({ kind: 'too-large', limitBytes: this.#maxBytes })
    if (end === -1) {
      this.#hold(this.#chunk.subarray(this.#at))
      this.#at = this.#chunk.length
      return undefined
    }
    let line = this.#chunk.subarray(this.#at, end)
    this.#at = end + 1
    if (this.#heldBytes > 0) {
      this.#hold(line)
      line = this.#held.subarray(0, this.#heldBytes)
      this.#held = EMPTY
      this.#heldBytes = 0
    }
    return this.#parse(line)
  }

  /** The bytes past the last frame, which are the reader's no longer. */
  rest(): Buffer {
    const unread = this.#chunk.subarray(this.#at)
    const rest = this.#heldBytes === 0 ? unread : Buffer.concat([this.#held.subarray(0, this.#heldBytes), unread])
    this.#chunk = this.#held = EMPTY
    this.#at = this.#heldBytes = 0
    return rest
  }

  #hold(bytes: Buffer): void {
    const needed = this.#heldBytes + bytes.length
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#held.length * 2))
      this.#held.copy(larger, 0, 0, this.#heldBytes)
      this.#held = larger
    }
    bytes.copy(this.#held, this.#heldBytes)
    this.#heldBytes = needed
  }

  #parse(line: Buffer): ReadFrame {
    if (!isUtf8(line)) return this.#fail({ kind: 'not-utf8' })
    let message: unknown
    try {
      message = JSON.parse(line.toString('utf8'))
    } catch (error) {
      return this.#fail({ kind: 'not-json', detail: error instanceof Error ? error.message : String(error) })
    }
    return isObject(message) ? { kind: 'frame', message } : this.#fail({ kind: 'not-an-object' })
  }

  #fail(problem: FrameProblem): ReadFrame {
    this.#broken = true
    return { kind: 'problem', problem }
  }
}

export function describeProblem(problem: FrameProblem): string {
  switch (problem.kind) {
    case 'too-large':
      return `the frame is longer than the limit of ${problem.limitBytes} bytes`
    case 'not-utf8':
      return 'the frame is not UTF-8'
    case 'not-json':
      return `the frame is not JSON: ${problem.detail}`
    case 'not-an-object':
      return 'the frame is not a JSON object'
  }
}

/** Throws `frame-too-large` for a line, its newline counted as HUD does not, that the peer would not read. */
export function checkFrameSize(text: string, limitBytes: number, what: string): void {
  // A UTF-16 unit is three bytes at most, so nearly every frame passes without being counted.
  if (text.length * 3 <= limitBytes) return
  const bytes = Buffer.byteLength(text) - 1
  if (bytes > limitBytes) throw frameTooLarge(what, bytes, limitBytes)
}
