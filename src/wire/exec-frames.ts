import { frameOverLimit } from './exec-errors.ts'

/**
 * `exec/1`, the light capability of our own environments. One stream carries many commands: each frame is a type (u8), a
 * channel (u32) and a length (u32), big-endian, then that many bytes. JSON payloads are described in exec-messages.ts.
 *
 * The client's first frame is `hello`; nothing is answered when its token is right, so that opening costs no round trip. A
 * channel is a number that the client picks, never twice; it lives until `exit`, `done` or `failure`. Channel 0 concerns the
 * whole stream. Input needs credit: the client sends at most `INPUT_WINDOW_BYTES` that the server has not granted back, so
 * that one command that reads nothing cannot block the others. Output needs none: a client always reads.
 */
export const FrameType = {
  /** Client, channel 0: `{token}`. */
  hello: 1,
  /** Client: `{command, timeoutMs?, maxOutputBytes?}`; input follows, ended by `input-end`. */
  start: 2,
  /** Client: `{path}`; answered by `stdout` frames and `done`. */
  read: 3,
  /** Client: `{path}`; input follows; answered by `done`. */
  write: 4,
  /** Client: bytes for stdin or for the file. */
  input: 5,
  inputEnd: 6,
  /** Client: SIGKILL; the channel still ends with `exit` or `failure`. */
  kill: 7,
  /** Server: a u32, input bytes that may be sent in addition. */
  credit: 8,
  stdout: 9,
  stderr: 10,
  /** Server: `{exitCode, signal?, droppedStdout, droppedStderr}`. */
  exit: 11,
  done: 12,
  /** Server: error data. On channel 0 the stream ends after it. */
  failure: 13,
} as const

export type FrameType = (typeof FrameType)[keyof typeof FrameType]

export interface Frame {
  readonly type: number
  readonly channel: number
  readonly payload: Buffer
}

/** Bytes of payload at most; a longer frame ends the stream. */
export const MAX_FRAME_BYTES = 1024 * 1024
export const INPUT_WINDOW_BYTES = 256 * 1024
/** Longer pieces are cut into frames of this size, so that channels take turns. */
export const CHUNK_BYTES = 64 * 1024
export const MAX_CHANNELS = 128
const HEADER_BYTES = 9
const NOTHING = Buffer.alloc(0)

export function encodeFrame(type: FrameType, channel: number, payload: Uint8Array = NOTHING): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length)
  frame.writeUInt8(type, 0)
  frame.writeUInt32BE(channel, 1)
  frame.writeUInt32BE(payload.length, 5)
  frame.set(payload, HEADER_BYTES)
  return frame
}

export function encodeJsonFrame(type: FrameType, channel: number, message: unknown): Buffer {
  return encodeFrame(type, channel, Buffer.from(JSON.stringify(message)))
}

export function encodeCredit(channel: number, bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(bytes)
  return encodeFrame(FrameType.credit, channel, payload)
}

/** Cuts bytes as they arrive into frames, holding one at most. Throws `exec-frame-over-limit` before the frame's payload is read. */
export function makeFrameReader(): (chunk: Buffer) => readonly Frame[] {
  /** The beginning of a frame; grows by doubling, so that single bytes cost no more than chunks. Frames that were cut from it keep it. */
  let held: Buffer = NOTHING
  let heldBytes = 0
  let needed = HEADER_BYTES

  function hold(chunk: Buffer): Buffer {
    const total = heldBytes + chunk.length
    if (total > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(total, 2 * held.length))
      held.copy(larger, 0, 0, heldBytes)
      held = larger
    }
    chunk.copy(held, heldBytes)
    heldBytes = total
    return held.subarray(0, heldBytes)
  }

  return chunk => {
    let bytes = heldBytes === 0 && chunk.length >= needed ? chunk : hold(chunk)
    if (bytes.length < needed) return []
    const frames: Frame[] = []
    needed = HEADER_BYTES
    while (bytes.length >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(5)
      if (length > MAX_FRAME_BYTES) throw frameOverLimit(length, MAX_FRAME_BYTES)
      needed = HEADER_BYTES + length
      if (bytes.length < needed) break
      frames.push({
        type: bytes.readUInt8(0),
        channel: bytes.readUInt32BE(1),
        payload: bytes.subarray(HEADER_BYTES, needed),
      })
      bytes = bytes.subarray(needed)
      needed = HEADER_BYTES
    }
    held = NOTHING
    heldBytes = 0
    if (bytes.length > 0) hold(bytes)
    return frames
  }
}
