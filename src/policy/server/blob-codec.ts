import { createHash } from 'node:crypto'
import { Packr } from 'msgpackr'
import type { TrainingState, Weights } from '../policy.ts'
import { storeDamaged } from './errors.ts'
import type { Trajectory } from './minibatches.ts'

/** How a checkpoint's state is kept. */
export interface CheckpointCodec {
  encode(state: Omit<TrainingState, 'gradient'>): Uint8Array
  /** `name` is for messages. */
  decode(bytes: Uint8Array, name: string): TrainingState
}

/** The other kinds of blobs and what they decode to. */
interface Contents {
  readonly gradient: Weights
  readonly kept: readonly Trajectory[]
}

const VERSION = 1

/** An options object of its own, which msgpackr writes into. `moreTypes` keeps typed arrays what they are. */
const packr = new Packr({ useRecords: false, variableMapSize: true, moreTypes: true, copyBuffers: true })

export function encodeBlob<Kind extends keyof Contents>(kind: Kind, content: Contents[Kind]): Uint8Array {
  return packr.pack([VERSION, kind, content])
}

/** Trusts what carries its mark: only the server writes into its directory. Throws `checkpoint-damaged`. */
export function decodeBlob<Kind extends keyof Contents>(kind: Kind, bytes: Uint8Array, name: string): Contents[Kind] {
  let blob: unknown
  try {
    blob = packr.unpack(bytes)
  } catch (error) {
    throw storeDamaged(name, error)
  }
  if (!Array.isArray(blob) || blob[0] !== VERSION || blob[1] !== kind) throw storeDamaged(name)
  return blob[2] as Contents[Kind]
}

/** SHA-256 over all parameters in the order of their names. */
export function digestWeights(weights: Weights): string {
  const hash = createHash('sha256')
  for (const [name, { shape, values }] of Object.entries(weights).sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${name} ${shape.join('×')}\n`).update(values)
  return hash.digest('hex')
}
