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

/** A packed value, and bytes that it says more of. */
export interface Part {
  readonly head: Uint8Array
  readonly bytes: Uint8Array
}

/** Bytes that it takes in a payload. */
export function sizeOf({ head, bytes }: Part): number {
  return LENGTH_BYTES + head.byteLength + bytes.byteLength
}

/** Parts as one payload, each its head's length (u32, little endian), head, bytes. All are copied once, and not kept. Throws where bytes were given away. */
export function joinParts(parts: readonly Part[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + sizeOf(part), 0)
  // Not zeroed first: every byte is written below.
  const payload = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
  const view = new DataView(payload.buffer)
  let at = 0
  for (const { head, bytes } of parts) {
    view.setUint32(at, head.byteLength, true)
    payload.set(head, at + LENGTH_BYTES)
    payload.set(bytes, at + LENGTH_BYTES + head.byteLength)
    at += LENGTH_BYTES + head.byteLength + bytes.byteLength
  }
  return payload
}

/** The fields of the head that begins there, each of them still unknown, and where its bytes begin. Throws `bad-cluster-message`. */
export function unpackHead(
  subject: string,
  payload: Uint8Array,
  at: number,
): { readonly fields: Readonly<Record<string, unknown>>; readonly end: number } {
  const { buffer, byteOffset, byteLength } = payload
  if (byteLength < at + LENGTH_BYTES) throw badClusterMessage(subject, `${byteLength - at} bytes hold no length`)
  const start = at + LENGTH_BYTES
  const end = start + new DataView(buffer, byteOffset, byteLength).getUint32(at, true)
  if (end > byteLength) throw badClusterMessage(subject, `it tells of ${end} bytes and has ${byteLength}`)
  return { fields: unpackFields(subject, payload.subarray(start, end)), end }
}

/**
 * A part of a payload, without a copy where that holds at most twice its size in memory: a payload is a view of what came from the socket, which many small ones may
 * share. Never a Buffer, whose `slice` copies nothing.
 */
export function ownBytes({ buffer, byteOffset }: Uint8Array, start: number, end: number): Uint8Array {
  const view = new Uint8Array(buffer, byteOffset + start, end - start)
  return 2 * view.byteLength >= buffer.byteLength ? view : view.slice()
}
