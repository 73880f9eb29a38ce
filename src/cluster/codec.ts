import { latePackr } from '../late-packr.ts'
import { badClusterMessage } from './errors.ts'

const packer = latePackr()

/** Data as the payload of a message. */
export function pack(value: object): Uint8Array {
  return packer().pack(value)
}

/** The fields of a payload, each of them still unknown. Throws `bad-cluster-message`. */
export function unpackFields(subject: string, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = packer().unpack(bytes)
  } catch (error) {
    throw badClusterMessage(subject, 'it cannot be unpacked', error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badClusterMessage(subject, 'it holds no fields')
  return { ...value }
}

const LENGTH_BYTES = 4

/** A value and bytes that it says more of, as one payload: length of the packed value (u32, little endian), packed value, bytes. They are copied once, and not kept. */
export function packBeside(value: object, bytes: Uint8Array): Uint8Array {
  const head = pack(value)
  const start = LENGTH_BYTES + head.byteLength
  // Not zeroed first: every byte is written below.
  const payload = new Uint8Array(Buffer.allocUnsafeSlow(start + bytes.byteLength).buffer)
  new DataView(payload.buffer).setUint32(0, head.byteLength, true)
  payload.set(head, LENGTH_BYTES)
  payload.set(bytes, start)
  return payload
}

/** The value's fields, each of them still unknown, and the bytes: see `ownBytes`. Throws `bad-cluster-message`. */
export function unpackBeside(
  subject: string,
  payload: Uint8Array,
): { readonly fields: Readonly<Record<string, unknown>>; readonly bytes: Uint8Array } {
  const { buffer, byteOffset, byteLength } = payload
  if (byteLength < LENGTH_BYTES) throw badClusterMessage(subject, `${byteLength} bytes hold no length`)
  const start = LENGTH_BYTES + new DataView(buffer, byteOffset, byteLength).getUint32(0, true)
  if (start > byteLength) throw badClusterMessage(subject, `it tells of ${start} bytes and has ${byteLength}`)
  return { fields: unpackFields(subject, payload.subarray(LENGTH_BYTES, start)), bytes: ownBytes(payload, start) }
}

/**
 * What follows in a payload, without a copy where that holds at most twice its size in memory: a payload is a view of what came from the socket, which many small ones may
 * share. Never a Buffer, whose `slice` copies nothing.
 */
function ownBytes({ buffer, byteOffset, byteLength }: Uint8Array, start: number): Uint8Array {
  const view = new Uint8Array(buffer, byteOffset + start, byteLength - start)
  return 2 * view.byteLength >= buffer.byteLength ? view : view.slice()
}
