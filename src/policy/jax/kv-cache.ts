/**
 * Keys and values of the sequences in all slots, kept on the host. What stands there was put there by the device and is only ever
 * copied, so that a sequence finds the same bits whichever slot it is in.
 */
import type { ModelShape } from '../policy.ts'

/** Keys and values of the first tokens of a sequence: for each of `2 × layers`, [tokens, width]. */
export type Prefix = readonly Float32Array[]

export interface KvCache {
  /** For each block its keys, then its values: [slots, heads, context, width / heads]. */
  readonly past: readonly Float32Array[]
  /** Added to scores: [slots, context]. */
  readonly mask: Float32Array
  /** Empties a slot and puts a prefix of so many tokens into it. */
  place(slot: number, prefix: Prefix, tokens: number): void
  /** Appends to a slot what a chunk left for it: `recent` is [slots, heads, chunk, width / heads], of which the first `count` are used. */
  append(slot: number, recent: readonly Float32Array[], chunk: number, count: number): void
}

export function makeKvCache(shape: ModelShape, slots: number, hidden: number): KvCache {
  const { heads, context, width, layers } = shape
  const part = width / heads
  const past = Array.from({ length: 2 * layers }, () => new Float32Array(slots * width * context))
  const mask = new Float32Array(slots * context).fill(hidden)
  const filled = new Uint32Array(slots)
  const show = (slot: number, tokens: number) => {
    mask.fill(hidden, slot * context, (slot + 1) * context)
    mask.fill(0, slot * context, slot * context + tokens)
    filled[slot] = tokens
  }
  return {
    past,
    mask,
    place(slot, prefix, tokens) {
      for (const [i, values] of past.entries()) {
        const source = prefix[i] ?? new Float32Array(0)
        for (let head = 0; head < heads; head += 1)
          for (let t = 0; t < tokens; t += 1) {
            const from = t * width + head * part
            values.set(source.subarray(from, from + part), ((slot * heads + head) * context + t) * part)
          }
      }
      show(slot, tokens)
    },
    append(slot, recent, chunk, count) {
      const first = filled[slot] ?? 0
      const kept = Math.min(count, context - first)
      for (const [i, values] of past.entries()) {
        const source = recent[i] ?? new Float32Array(0)
        for (let head = 0; head < heads; head += 1) {
          const from = (slot * heads + head) * chunk * part
          values.set(source.subarray(from, from + kept * part), ((slot * heads + head) * context + first) * part)
        }
      }
      show(slot, first + kept)
    },
  }
}
