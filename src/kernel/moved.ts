/** From this size a binary is moved: below it, one copy costs less than handing a buffer over. */
const MIN_MOVED_BYTES = 4_096

const kinds = [Buffer, Uint8Array, Uint32Array, Float32Array, Int32Array, Float64Array, BigInt64Array, BigUint64Array]

/** Stands in a message for a binary that travels beside it. */
export class Moved {
  readonly kind: number
  readonly index: number

  constructor(kind: number, index: number) {
    this.kind = kind
    this.index = index
  }
}

/**
 * `message` with each binary of at least 4 KiB that owns its whole ArrayBuffer replaced by a `Moved`, and its buffer added to
 * `attachments`. Only the objects on the way to one are copied; a message without any is returned as it is.
 */
export function moveBinaries(message: unknown, attachments: ArrayBuffer[]): unknown {
  if (typeof message !== 'object' || message === null) return message
  if (ArrayBuffer.isView(message)) return moveView(message, attachments)
  if (Array.isArray(message)) {
    let copy: unknown[] | undefined
    for (let index = 0; index < message.length; index += 1) {
      const item: unknown = message[index]
      if (typeof item !== 'object') continue
      const moved = moveBinaries(item, attachments)
      if (moved === item) continue
      copy ??= message.slice()
      copy[index] = moved
    }
    return copy ?? message
  }
  if (message.constructor !== Object) return message
  return moveFromRecord(message as Record<string, unknown>, attachments)
}

/** The binary that `kind` and `index` of a `Moved` name. Undefined for a kind or an index that does not exist. */
export function restoreMoved(kind: number, index: number, attachments: ArrayBuffer[]): ArrayBufferView | undefined {
  const buffer = attachments[index]
  if (buffer === undefined) return undefined
  if (kind === 0) return Buffer.from(buffer)
  const View = kinds[kind] as Uint8ArrayConstructor | undefined
  return View === undefined ? undefined : new View(buffer)
}

function moveFromRecord(message: Record<string, unknown>, attachments: ArrayBuffer[]): unknown {
  let copy: Record<string, unknown> | undefined
  for (const key in message) {
    const field = message[key]
    if (typeof field !== 'object' || field === null) continue
    const moved = moveBinaries(field, attachments)
    if (moved === field) continue
    copy ??= { ...message }
    copy[key] = moved
  }
  return copy ?? message
}

function moveView(view: ArrayBufferView, attachments: ArrayBuffer[]): unknown {
  const { buffer } = view
  if (view.byteLength < MIN_MOVED_BYTES || view.byteLength !== buffer.byteLength) return view
  if (!(buffer instanceof ArrayBuffer)) return view
  const kind = kinds.indexOf(view.constructor as (typeof kinds)[number])
  if (kind < 0) return view
  const known = attachments.indexOf(buffer)
  return new Moved(kind, known >= 0 ? known : attachments.push(buffer) - 1)
}
