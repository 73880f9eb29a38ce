import type { Clock } from '../clock.ts'

/** A clock on which everything takes a `speed`-th of the time; `wallTime` stays what people's clocks say. */
export function makeFasterClock(clock: Clock, speed: number): Clock {
  return {
    now: () => clock.now() * speed,
    wallTime: () => clock.wallTime(),
    after: (delayMs, wake) => clock.after(delayMs / speed, wake),
  }
}
