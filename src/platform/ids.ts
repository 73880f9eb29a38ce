import { createHash } from 'node:crypto'
import type { IdSource } from '../ids.ts'

/** The platform names jobs, traces and groups by UUIDs, which it takes as 32 hex digits. */

/** A UUID that nobody else has (RFC 9562, version 4). */
export function freshUuid(ids: IdSource): string {
  return toUuid(Buffer.from(ids.hex(16), 'hex'), 4)
}

/** The UUID of a name within another UUID's namespace (RFC 9562, version 5): the same every time. */
export function namedUuid(namespace: string, name: string): string {
  const digest = createHash('sha1').update(Buffer.from(namespace, 'hex')).update(name).digest()
  return toUuid(digest.subarray(0, 16), 5)
}

/** 16 hex digits for one span of a trace: a span that is sent again has the id that it had. */
export function spanId(traceId: string, index: number): string {
  return createHash('sha256').update(`${traceId}/${index}`).digest('hex').slice(0, 16)
}

/** With dashes, as addresses for people have it. */
export function dashed(uuid: string): string {
  return uuid.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

function toUuid(bytes: Buffer, version: 4 | 5): string {
  const digits = [...bytes.toString('hex')]
  digits[12] = String(version)
  digits[16] = ((Number.parseInt(digits[16] ?? '0', 16) & 0x3) | 0x8).toString(16)
  return digits.join('')
}
