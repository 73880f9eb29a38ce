import { addExtension, Packr } from 'msgpackr'
import { TroupeError } from '../errors.ts'
import { malformedBatch, notData } from './errors.ts'
import { Moved, restoreMoved } from './moved.ts'
import { Reference } from './reference.ts'

const REF_TYPE = 0x52
const MOVED_TYPE = 0x4d

interface Reading {
  readonly resolve: (address: string) => Reference
  readonly attachments: ArrayBuffer[]
}

// msgpackr's extensions are global, and so is the state of its reader: this is set for the length of one synchronous read.
let reading: Reading | undefined

addExtension({
  Class: Reference,
  type: REF_TYPE,
  write: (ref: Reference) => ref.address,
  read: (address: unknown) => {
    if (reading === undefined || typeof address !== 'string') throw malformedBatch('a ref is no address')
    return reading.resolve(address)
  },
})

addExtension({
  Class: Moved,
  type: MOVED_TYPE,
  write: (moved: Moved) => [moved.kind, moved.index],
  read: (place: unknown) => {
    const [kind, index]: unknown[] = Array.isArray(place) ? place : []
    const view = restoreMoved(Number(kind), Number(index), reading?.attachments ?? [])
    if (view === undefined) throw malformedBatch('a moved binary is missing')
    return view
  },
})

/**
 * Messages as bytes. Refs arrive as refs that work where they arrive; typed arrays, Buffer, Date, Map, Set, BigInt and
 * undefined survive; an instance of any other class arrives as a plain object. Each call is complete in itself, so one that
 * fails leaves nothing behind that could garble the next. Reading creates data only: never a prototype, never code.
 */
export class Codec {
  private readonly resolve: (address: string) => Reference
  // A fresh options object each: msgpackr writes into it. `moreTypes` keeps typed arrays what they are.
  private readonly packr = new Packr({
    moreTypes: true,
    structuredClone: false,
    copyBuffers: true,
    useToJSON: false,
    writeFunction: refuseFunction,
  } as ConstructorParameters<typeof Packr>[0])

  constructor(resolve: (address: string) => Reference) {
    this.resolve = resolve
  }

  /** Throws `not-data` for a function, and msgpackr's error for a symbol. The bytes are valid until the next call. */
  pack(value: unknown): Uint8Array {
    return this.packr.pack(value)
  }

  /** Throws `malformed-batch` for what no codec wrote. */
  unpack(bytes: Uint8Array, attachments: ArrayBuffer[]): unknown {
    const outer = reading
    reading = { resolve: this.resolve, attachments }
    try {
      return this.packr.unpack(bytes)
    } catch (error) {
      if (error instanceof TroupeError) throw error
      throw malformedBatch(error instanceof Error ? error.message : String(error))
    } finally {
      reading = outer
    }
  }

  /** What would arrive if `value` were sent. */
  copy(value: unknown): unknown {
    return this.unpack(this.pack(value), [])
  }
}

function refuseFunction(): never {
  throw notData('function')
}
