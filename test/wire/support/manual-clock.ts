import type { Clock } from '../../../src/clock.ts'

interface Timer {
  readonly at: number
  readonly wake: () => void
}

export interface ManualClock extends Clock {
  /** Moves time on, waking timers in order; pending promise jobs and sockets get a turn before each and after the last. */
  advance(byMs: number): Promise<void>
  /** Timers that have not fired. */
  pending(): number
}

/** Time that stands still until it is moved. */
export function makeManualClock(): ManualClock {
  let now = 0
  const timers = new Set<Timer>()
  const turn = () => new Promise<void>(resolve => setImmediate(resolve))
  return {
    now: () => now,
    wallTime: () => now,
    after(delayMs, wake) {
      const timer = { at: now + delayMs, wake }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(byMs) {
      const until = now + byMs
      for (;;) {
        for (let turns = 0; turns < 5; turns += 1) await turn()
        const next = [...timers].filter(timer => timer.at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        timers.delete(next)
        now = next.at
        next.wake()
      }
      now = until
    },
    pending: () => timers.size,
  }
}
