import type { Clock } from '../../clock.ts'

/** Adds up how long sandboxes exist, by counting them again and again. */
export interface AliveMeter {
  /** Sandbox-milliseconds until now. */
  total(): number
  readonly peak: number
  stop(): void
}

const LOOK_MS = 4

export function makeAliveMeter(clock: Clock, count: () => number): AliveMeter {
  let lookedAt = clock.now()
  let before = count()
  let peak = before
  let total = 0
  function look(): void {
    const now = clock.now()
    const found = count()
    // Straight between two looks.
    total += ((now - lookedAt) * (before + found)) / 2
    lookedAt = now
    before = found
    peak = Math.max(peak, found)
  }
  let cancel = clock.after(LOOK_MS, again)
  function again(): void {
    look()
    cancel = clock.after(LOOK_MS, again)
  }
  return {
    total() {
      look()
      return total
    },
    get peak() {
      return peak
    },
    stop: () => cancel(),
  }
}
