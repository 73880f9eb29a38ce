import { type Crowd, makeCrowd } from '../emulator/crowd.ts'
import { interpolate } from '../emulator/figures.ts'
import { drawStretch } from '../emulator/latency.ts'
import type { Points } from './latency-model.ts'
import type { Timeline } from './timeline.ts'

/** Lets operations take their simulated time, as the emulator lets them take theirs: what crowding adds comes after what one takes by itself. */
export interface Operations {
  /**
   * `kind` says whom it shares the provider with; `stretch` makes it that many times as long. Calls back at its end with the most of its kind that were under way
   * meanwhile.
   */
  take(kind: string, points: Points, stretch: number, done: (atOnce: number) => void): void
  /** Work of the engine's own machine: one piece after the other, in the order in which they come. */
  work(ms: number, done: () => void): void
}

export function makeOperations(timeline: Timeline, random: () => number, spread: number): Operations {
  const crowds = new Map<string, Crowd>()
  let busyUntil = 0

  return {
    take(kind, points, stretch, done) {
      const factor = stretch * drawStretch(random, spread)
      const alone = interpolate(points, 1)
      if (points.length === 1) {
        timeline.after(alone * factor, () => done(1))
        return
      }
      const crowd = crowds.get(kind) ?? makeCrowd()
      crowds.set(kind, crowd)
      const visit = crowd.enter()
      timeline.after(alone * factor, () => {
        const crowding = interpolate(points, visit.peak()) - alone
        timeline.after(Math.max(0, crowding) * factor, () => {
          const atOnce = visit.peak()
          visit.leave()
          done(atOnce)
        })
      })
    },
    work(ms, done) {
      if (ms <= 0) {
        done()
        return
      }
      busyUntil = Math.max(busyUntil, timeline.now()) + ms
      timeline.after(busyUntil - timeline.now(), done)
    },
  }
}
