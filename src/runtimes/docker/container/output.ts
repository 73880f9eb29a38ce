import { hide } from '../../../redact.ts'

/** The end of what a container wrote, however much that was. */
export interface Output {
  /** A piece of the engine's log stream, cut anywhere. */
  write(piece: Uint8Array): void
  /** A stream that broke off may have done so within a frame: the next piece begins a stream anew. */
  restart(): void
  /** The last lines, without secrets. */
  tail(): string
}

const HEADER_BYTES = 8
const KEPT_BYTES = 16_384
const KEPT_LINES = 40

/** Reads frames: a stream's number, three zeros, the length in four bytes, then so many bytes of text. */
export function makeOutput(): Output {
  let header: Buffer = Buffer.alloc(0)
  let left = 0
  let kept: Buffer = Buffer.alloc(0)
  return {
    write(piece) {
      let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      while (rest.length > 0) {
        if (left > 0) {
          const text = rest.subarray(0, left)
          left -= text.length
          rest = rest.subarray(text.length)
          kept = Buffer.concat([kept, text])
          if (kept.length > 2 * KEPT_BYTES) kept = kept.subarray(-KEPT_BYTES)
          continue
        }
        const missing = HEADER_BYTES - header.length
        header = Buffer.concat([header, rest.subarray(0, missing)])
        rest = rest.subarray(missing)
        if (header.length < HEADER_BYTES) return
        left = header.readUInt32BE(4)
        header = Buffer.alloc(0)
      }
    },
    restart() {
      header = Buffer.alloc(0)
      left = 0
    },
    tail: () => hide(kept.toString('utf8').trimEnd().split('\n').slice(-KEPT_LINES).join('\n').slice(-KEPT_BYTES)),
  }
}
