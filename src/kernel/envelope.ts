import { malformedBatch } from './errors.ts'

/** Envelopes in one buffer at most: past this a flush does not wait for the end of the turn. */
export const MAX_BATCH = 512

/**
 * A batch of envelopes: `Int32` columns, then one msgpackr array with all the messages. Columns beside the messages cost a
 * fraction of what an object for each envelope does.
 *
 *   [count] [target id × count] [reply id × count, 0 for none] [messages]
 */
export interface Batch {
  readonly count: number
  /** The columns with the count before them. */
  readonly columns: Int32Array
  readonly payload: Uint8Array
}

/** The batch in a buffer of its own, ready to be handed over. The first `count` of each column are taken. */
export function encodeBatch(count: number, targets: Int32Array, replies: Int32Array, payload: Uint8Array): Uint8Array {
  const headBytes = 4 + 8 * count
  const bytes = Buffer.allocUnsafeSlow(headBytes + payload.length)
  const head = new Int32Array(bytes.buffer, 0, 1 + 2 * count)
  head[0] = count
  for (let index = 0; index < count; index += 1) {
    head[1 + index] = targets[index] ?? 0
    head[1 + count + index] = replies[index] ?? 0
  }
  bytes.set(payload, headBytes)
  return bytes
}

/** Throws `malformed-batch` when the columns do not fit the buffer; the messages are left packed. */
export function decodeBatch(received: Uint8Array): Batch {
  const bytes = received.byteOffset % 4 === 0 ? received : new Uint8Array(received)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  const count = words[0]
  if (count === undefined) throw malformedBatch('it is shorter than its count')
  const headWords = 1 + 2 * count
  if (count < 0 || headWords > words.length) throw malformedBatch(`it claims ${count} messages`)
  return { count, columns: words.subarray(0, headWords), payload: bytes.subarray(4 * headWords) }
}
