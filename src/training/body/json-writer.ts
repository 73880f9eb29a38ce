/*
 * JSON text of token ids and log-probabilities, written as bytes. `JSON.stringify` makes a string of each number, and writes a float
 * of 32 bits with the 17 digits of one of 64; here digits go straight into the buffer, and floats have the 9 at most that tell
 * them apart.
 */

/** Digits of 0 to 9,999: without leading zeros and how many they are, and padded to four. Little endian, the first digit lowest. */
const SHORT = new Uint32Array(10_000)
const SHORT_LENGTH = new Uint8Array(10_000)
const PADDED = new Uint32Array(10_000)
for (let value = 0; value < 10_000; value += 1) {
  const text = String(value)
  SHORT[value] = packDigits(text)
  SHORT_LENGTH[value] = text.length
  PADDED[value] = packDigits(text.padStart(4, '0'))
}
/** 0 to 999 padded to three, and a comma: how nearly every id ends. */
const LAST = Uint32Array.from({ length: 1_000 }, (_, value) => packDigits(`${String(value).padStart(3, '0')},`))

/** All of them exact as doubles, and so is a division by them correctly rounded. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const EXPONENT = 0x65
const ZERO = 0x30
const OPEN = 0x5b
const CLOSE = 0x5d

/** Numbers are written here, and copied from here: a buffer that never changes is one that the compiler need not look at again. */
const NUMBERS_AT_ONCE = 4_096
/** Of the longest number (`-1.17549435e-38,`), with room for whole words that are written where fewer bytes count. */
const NUMBER_BYTES = 24
const scratch = new Uint8Array(NUMBERS_AT_ONCE * NUMBER_BYTES)
const view = new DataView(scratch.buffer)

const FIRST_BYTES = 512 * 1024
const utf8 = new TextEncoder()

/** Grows as needed, and is used again after `take`. */
export class JsonWriter {
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  /** A copy of what was written since the last `take`, which owns its buffer. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  /** As it is: JSON already. */
  text(json: string): void {
    this.#reserve(json.length * 3)
    this.#length += utf8.encodeInto(json, this.#bytes.subarray(this.#length)).written
  }

  /** `[1,2,3]` */
  ids(ids: Uint32Array): void {
    this.#array(ids, writeIds)
  }

  /**
   * `[-0.5,0]`: each the shortest of 9 significant digits or fewer that a reader of doubles rounds to the same float of 32 bits.
   * Numbers that JSON cannot say (NaN, the infinities) are `null`, as with `JSON.stringify`.
   */
  floats(values: Float32Array): void {
    this.#array(values, writeFloats)
  }

  #array<Values extends { readonly length: number }>(
    values: Values,
    write: (values: Values, from: number, to: number) => number,
  ): void {
    this.#byte(OPEN)
    for (let from = 0; from < values.length; from += NUMBERS_AT_ONCE) {
      const written = write(values, from, Math.min(from + NUMBERS_AT_ONCE, values.length))
      this.#reserve(written)
      this.#bytes.set(scratch.subarray(0, written), this.#length)
      this.#length += written
    }
    // In place of the last comma.
    if (values.length > 0) this.#length -= 1
    this.#byte(CLOSE)
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#length] = byte
    this.#length += 1
  }

  #reserve(extra: number): void {
    const needed = this.#length + extra
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

function packDigits(text: string): number {
  let packed = 0
  for (let place = 0; place < text.length; place += 1) packed += text.charCodeAt(place) * 256 ** place
  return packed
}

/** Each with a comma after it. Returns how many bytes they are. */
function writeIds(ids: Uint32Array, from: number, to: number): number {
  let at = 0
  for (let place = from; place < to; place += 1) {
    const id = (ids[place] ?? 0) >>> 0
    const upper = (id / 1_000) >>> 0
    if (upper === 0 || upper >= 10_000) {
      at = writeWhole(at, id)
      scratch[at++] = COMMA
    } else {
      view.setUint32(at, SHORT[upper] ?? 0, true)
      at += SHORT_LENGTH[upper] ?? 0
      view.setUint32(at, LAST[id - upper * 1_000] ?? 0, true)
      at += 4
    }
  }
  return at
}

/** Each with a comma after it. Returns how many bytes they are. */
function writeFloats(values: Float32Array, from: number, to: number): number {
  let at = 0
  for (let place = from; place < to; place += 1) {
    at = writeFloat(at, values[place] ?? 0)
    scratch[at++] = COMMA
  }
  return at
}

/** A whole number from 0 to below 10^12. Returns where the next byte goes. */
function writeWhole(at: number, value: number): number {
  if (value < 10_000) {
    view.setUint32(at, SHORT[value] ?? 0, true)
    return at + (SHORT_LENGTH[value] ?? 0)
  }
  const upper = Math.floor(value / 10_000)
  const next = writeWhole(at, upper)
  view.setUint32(next, PADDED[value - upper * 10_000] ?? 0, true)
  return next + 4
}

function writeFloat(from: number, value: number): number {
  let at = from
  if (value === 0) {
    scratch[at++] = ZERO
    return at
  }
  const size = Math.abs(value)
  // Within these bounds the powers of ten below are exact.
  if (!(size >= 1e-13 && size < 1e8)) return writeText(at, value)
  let decimals = 8
  for (let bound = 1; size < bound; bound /= 10) decimals += 1
  for (let bound = 10; size >= bound; bound *= 10) decimals -= 1
  let digits = Math.round(size * (POWERS[decimals] ?? 1))
  for (let shorter = 0; shorter < 2 && decimals > 0; shorter += 1) {
    const fewer = Math.round(digits / 10)
    if (Math.fround(fewer / (POWERS[decimals - 1] ?? 1)) !== size) break
    digits = fewer
    decimals -= 1
  }
  for (; decimals > 0 && digits % 10 === 0; decimals -= 1) digits /= 10
  if (value < 0) scratch[at++] = MINUS
  return size < 1e-5 ? writePower(at, digits, decimals) : writeDecimal(at, digits, decimals)
}

/** `123e-9`, for what would have many zeros: nearly certain tokens are many. */
function writePower(at: number, digits: number, decimals: number): number {
  const next = writeWhole(at, digits)
  scratch[next] = EXPONENT
  scratch[next + 1] = MINUS
  return writeWhole(next + 2, decimals)
}

/** `digits` / 10^`decimals`. */
function writeDecimal(at: number, digits: number, decimals: number): number {
  const power = POWERS[decimals] ?? 1
  const whole = Math.floor(digits / power)
  const point = writeWhole(at, whole)
  if (decimals === 0) return point
  scratch[point] = POINT
  let fraction = digits - whole * power
  let left = decimals
  // From behind, so that the fraction's leading zeros are written too.
  for (; left >= 4; left -= 4) {
    const upper = Math.floor(fraction / 10_000)
    view.setUint32(point + 1 + left - 4, PADDED[fraction - upper * 10_000] ?? 0, true)
    fraction = upper
  }
  for (; left > 0; left -= 1) {
    const upper = Math.floor(fraction / 10)
    scratch[point + left] = ZERO + fraction - upper * 10
    fraction = upper
  }
  return point + 1 + decimals
}

/** The rare ones, and what is no number. */
function writeText(at: number, value: number): number {
  const text = Number.isFinite(value) ? String(Number(value.toPrecision(9))) : 'null'
  for (let place = 0; place < text.length; place += 1) scratch[at + place] = text.charCodeAt(place)
  return at + text.length
}
