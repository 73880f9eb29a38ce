import type { Clock } from '../clock.ts'
import { Ring } from './ring.ts'
import type { Scheduler } from './scheduler.ts'

/** An actor as the run queue sees it. */
export interface Runnable {
  /** Handles at most `limit` entries. True when there is more to do. */
  run(limit: number): boolean
}

/** Entries one actor may handle before the next has its turn. */
const SLICE = 16
/** Slices, and milliseconds, before the event loop gets its turn. */
const MAX_SLICES = 256
const MAX_TURN_MS = 4

/** Actors with something to do, in order of arrival: drained in a microtask with a budget, then after input and output. */
export class RunQueue {
  private readonly ready = new Ring<Runnable>()
  private readonly scheduler: Scheduler
  private readonly clock: Clock
  private scheduled = false

  constructor(scheduler: Scheduler, clock: Clock) {
    this.scheduler = scheduler
    this.clock = clock
  }

  /** The caller sees to it that an actor is added once only. */
  add(runnable: Runnable): void {
    this.ready.push(runnable)
    if (this.scheduled) return
    this.scheduled = true
    this.scheduler.microtask(this.drain)
  }

  private readonly drain = (): void => {
    const { choose } = this.scheduler
    if (choose !== undefined) {
      this.runChosen(choose(this.ready.size))
      return
    }
    const endsAt = this.clock.now() + MAX_TURN_MS
    for (let slices = 0; this.ready.size > 0; slices += 1) {
      if (slices >= MAX_SLICES || (slices > 0 && this.clock.now() > endsAt)) {
        this.scheduler.macrotask(this.drain)
        return
      }
      const next = this.ready.shift()
      if (next?.run(SLICE)) this.ready.push(next)
    }
    this.scheduled = false
  }

  /** One entry of the actor at that place; those that stood before it stand behind the others now. */
  private runChosen(place: number): void {
    for (let moved = 0; moved < place; moved += 1) {
      const first = this.ready.shift()
      if (first !== undefined) this.ready.push(first)
    }
    const next = this.ready.shift()
    if (next?.run(1)) this.ready.push(next)
    this.scheduled = this.ready.size > 0
    if (this.scheduled) this.scheduler.macrotask(this.drain)
  }
}
