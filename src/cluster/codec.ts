import { createRequire } from 'node:module'
import type { Packr } from 'msgpackr'
import { badClusterMessage } from './errors.ts'

let packr: Packr | undefined

/** An options object of its own, which msgpackr writes into; no records, so that every message can be read by itself. Loaded with the first. */
function packer(): Packr {
  packr ??= makePacker()
  return packr
}

function makePacker(): Packr {
  const { Packr }: typeof import('msgpackr') = createRequire(import.meta.url)('msgpackr')
  return new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true })
}

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
