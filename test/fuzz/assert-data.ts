import * as assert from 'uvu/assert'

/** What msgpack's own extensions make, and nothing that a program defines. */
const KNOWN: ReadonlySet<unknown> = new Set<unknown>(
  [
    null,
    ...[Object, Array, Map, Set, Date, RegExp, ArrayBuffer, DataView, Buffer],
    ...[Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError],
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
  ].map(known => (typeof known === 'function' ? known.prototype : known)),
)

/** The library's word for a byte that means nothing. */
const NOTHING = 'C1Type'

/** Fails for a function, a symbol, or an object of any class that is not one of data. Follows cycles once. */
export function assertData(value: unknown): void {
  const seen = new Set<object>()
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const each = waiting.pop()
    assert.ok(typeof each !== 'function' && typeof each !== 'symbol', `a ${typeof each} came out`)
    if (typeof each !== 'object' || each === null || seen.has(each)) continue
    seen.add(each)
    const prototype: unknown = Object.getPrototypeOf(each)
    assert.ok(KNOWN.has(prototype) || nameOf(prototype) === NOTHING, `an instance of ${nameOf(prototype)} came out`)
    if (each instanceof Map) waiting.push(...each.keys(), ...each.values())
    else if (each instanceof Set) waiting.push(...each)
    else if (!ArrayBuffer.isView(each))
      for (const key of Reflect.ownKeys(each)) waiting.push(Reflect.getOwnPropertyDescriptor(each, key)?.value)
  }
}

function nameOf(prototype: unknown): string {
  const maker = typeof prototype === 'object' && prototype !== null ? Reflect.get(prototype, 'constructor') : undefined
  return typeof maker === 'function' ? maker.name : String(maker)
}
