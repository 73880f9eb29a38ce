import { type CancelTimer, type Clock, systemClock } from '../../../src/clock.ts'

/** The system's clock, but timers that are set for longer than `hold` says do not fire before `release`. */
export class HoldingClock implements Clock {
  #longestMs = Number.POSITIVE_INFINITY
  readonly #held = new Set<() => void>()

  now(): number {
    return systemClock.now()
  }

  wallTime(): number {
    return systemClock.wallTime()
  }

  after(delayMs: number, wake: () => void): CancelTimer {
    if (delayMs <= this.#longestMs) return systemClock.after(delayMs, wake)
    const own = () => wake()
    this.#held.add(own)
    return () => void this.#held.delete(own)
  }

  hold(longestMs: number): void {
    this.#longestMs = longestMs
  }

  /** Fires at once what is held. */
  release(): void {
    this.#longestMs = Number.POSITIVE_INFINITY
    for (const wake of this.#held) wake()
    this.#held.clear()
  }
}
