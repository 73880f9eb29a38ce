import { type Clock, systemClock } from '../../src/clock.ts'

/** The system's clock until it is told to hurry; what is begun from then on takes a `speed`-th of the time. */
export interface HastyClock extends Clock {
  hurry(speed: number): void
}

/** For a test that measures nothing any more and only waits for what never comes to be given up. */
export function makeHastyClock(): HastyClock {
  let speed = 1
  let since = systemClock.now()
  let at = since
  const now = () => at + (systemClock.now() - since) * speed
  return {
    now,
    wallTime: () => systemClock.wallTime(),
    after: (delayMs, wake) => systemClock.after(delayMs / speed, wake),
    hurry(next) {
      at = now()
      since = systemClock.now()
      speed = next
    },
  }
}
