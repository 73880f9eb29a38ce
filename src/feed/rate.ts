/** How many things happened lately. */
export interface Rate {
  /** `at` in milliseconds since 1970. What is older than the window changes nothing. */
  add(at: number): void
  /** A second, over the window that ends at `now`. */
  at(now: number): number
}

const WINDOW_MS = 10_000
const SLOT_MS = 250
const SLOTS = WINDOW_MS / SLOT_MS

/** Counts over the last 10 seconds, a quarter of a second at a time, in memory that does not grow. */
export function makeRate(): Rate {
  const counts = new Uint32Array(SLOTS)
  /** Which quarter each count is of. */
  const slots = new Float64Array(SLOTS).fill(-1)
  return {
    add(at) {
      const slot = Math.floor(at / SLOT_MS)
      const index = slot % SLOTS
      const held = slots[index] ?? -1
      if (held > slot) return
      if (held < slot) {
        slots[index] = slot
        counts[index] = 0
      }
      counts[index] = (counts[index] ?? 0) + 1
    },
    at(now) {
      const newest = Math.floor(now / SLOT_MS)
      let count = 0
      for (let index = 0; index < SLOTS; index += 1) {
        const age = newest - (slots[index] ?? -1)
        if (age >= 0 && age < SLOTS) count += counts[index] ?? 0
      }
      return count / (WINDOW_MS / 1_000)
    },
  }
}
