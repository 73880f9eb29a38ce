import type { Clock } from '../clock.ts'

interface Timer {
  readonly dueAt: number
  readonly order: number
  readonly wake: () => void
}

/** Lets promise jobs and immediates that are due run, several rounds of them. */
export async function settle(rounds = 5): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise(resolve => setImmediate(resolve))
}

/**
 * A clock that stands still until `advance` or `fireNext` is called. Timers fire in order of time, then of what `tieBreak` gave when
 * they were set: by default, in the order of their setting.
 */
export class VirtualClock implements Clock {
  #now = 0
  #order = 0
  readonly #timers = new Set<Timer>()
  readonly #startedAt: number
  readonly #tieBreak: () => number

  constructor(startedAt = 1_700_000_000_000, tieBreak?: () => number) {
    this.#startedAt = startedAt
    this.#tieBreak =
      tieBreak ??
      (() => {
        this.#order += 1
        return this.#order
      })
  }

  now(): number {
    return this.#now
  }

  wallTime(): number {
    return this.#startedAt + this.#now
  }

  after(delayMs: number, wake: () => void): () => void {
    const timer = { dueAt: this.#now + Math.max(0, delayMs), order: this.#tieBreak(), wake }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Timers that have not fired yet. */
  get pending(): number {
    return this.#timers.size
  }

  /** Moves time on, stopping at each timer on the way and letting what it started settle. */
  async advance(byMs: number): Promise<void> {
    const until = this.#now + byMs
    await settle()
    for (let timer = this.#next(until); timer !== undefined; timer = this.#next(until)) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.dueAt)
      timer.wake()
      await settle()
    }
    this.#now = until
  }

  /** Moves time on to the next timer and fires it alone, letting nothing settle. False when there is none. */
  fireNext(): boolean {
    const timer = this.#next(Number.POSITIVE_INFINITY)
    if (timer === undefined) return false
    this.#timers.delete(timer)
    this.#now = Math.max(this.#now, timer.dueAt)
    timer.wake()
    return true
  }

  #next(until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.dueAt > until) continue
      if (
        first === undefined ||
        timer.dueAt < first.dueAt ||
        (timer.dueAt === first.dueAt && timer.order < first.order)
      )
        first = timer
    }
    return first
  }
}
