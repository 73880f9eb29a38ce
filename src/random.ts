/**
 * Seeded randomness, for everything that has to come out the same again: the order of groups, agents' choices, back-off
 * under test. Not for secrets.
 */
import { createHash } from 'node:crypto'

const WARM_UP_ROUNDS = 12

/**
 * Numbers in [0, 1) from `seed`, an integer of up to 53 bits: sfc32 (Chris Doty-Humphrey, PractRand, public domain), seeded
 * as PractRand does with the two halves of the seed, a counter of 1 and 12 rounds thrown away.
 */
export function makeRandom(seed: number): () => number {
  let a = 0
  let b = seed >>> 0
  let c = Math.floor(seed / 2 ** 32) >>> 0
  let counter = 1
  const next = () => {
    const result = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + result
    return (result >>> 0) / 2 ** 32
  }
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) next()
  return next
}

/** A 32-bit seed that depends on each part and on their order, and on nothing else: the head of a SHA-256 over them. */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE(0)
}

/** A 32-bit seed for the `n`-th of many things under one seed: MurmurHash3's finalizer (Austin Appleby, public domain). */
export function mixSeed(seed: number, n: number): number {
  let mixed = (seed ^ Math.imul(n + 1, 0x9e3779b9)) >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** `items` in an order drawn from `random` (Fisher-Yates); the argument is left alone. */
export function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const shuffled: Item[] = []
  for (const [place, item] of items.entries()) {
    const other = Math.floor(random() * (place + 1))
    shuffled.push(shuffled[other] ?? item)
    shuffled[other] = item
  }
  return shuffled
}
