import type { CancelTimer, Clock } from '../../src/clock.ts'
import type { Scheduler } from '../../src/kernel/scheduler.ts'
import type { World } from './world.ts'

/** How slow the work of a node is, and how late its timers. Shares are of events, times in milliseconds. */
export interface Pace {
  readonly lateShare: number
  readonly lateMs: number
}

/** What can end a wait early, from outside. */
export interface Cuts {
  add(cut: (error: Error) => void): void
  delete(cut: (error: Error) => void): void
}

/** Beyond what Node's timers count to, they fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * One thread: its clock, which began when it did, its timers, which count whole milliseconds as Node's do, and its work, which comes
 * when the world lets it. It can stall and go on, or be lost with all it was about to do.
 */
export class SimulatedNode {
  readonly name: string
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly random: () => number
  readonly #world: World
  readonly #pace: Pace
  #state: 'running' | 'stalled' | 'lost' = 'running'
  readonly #held: (() => void)[] = []
  readonly #timers = new Set<object>()
  readonly #onLost: (() => void)[] = []

  constructor(world: World, name: string, pace: Pace) {
    this.#world = world
    this.#pace = pace
    this.name = name
    this.random = () => world.random()
    const begun = world.between(0, 1e6)
    this.clock = {
      now: () => world.clock.now() + begun,
      wallTime: () => world.clock.wallTime(),
      after: (delayMs, wake) => this.#setTimer(delayMs, wake),
    }
    this.scheduler = {
      microtask: run => void this.at(this.#lateness(), 'works', run),
      macrotask: run => void this.at(this.#lateness(), 'works on', run),
      choose: count => (count > 1 ? world.whole(0, count - 1) : 0),
    }
  }

  get isLost(): boolean {
    return this.#state === 'lost'
  }

  /** Timers that the code of this node has set and not cancelled. */
  get timers(): number {
    return this.#timers.size
  }

  /** Something that happens on this node: later while it is stalled, never once it is lost. */
  at(delayMs: number, what: string, run: () => void): CancelTimer {
    let isWanted = true
    const happen = () => {
      if (!isWanted || this.#state === 'lost') return
      if (this.#state === 'stalled') {
        this.#held.push(happen)
        return
      }
      isWanted = false
      this.#world.note(`${this.name} ${what}`)
      run()
    }
    const cancel = this.#world.clock.after(delayMs, happen)
    return () => {
      isWanted = false
      cancel()
    }
  }

  /** Resolves after `ms` (Infinity: never by itself); rejects as soon as the signal aborts or what it depends on is cut. */
  wait(ms: number, what: string, stops: { readonly signal?: AbortSignal | undefined; readonly cuts?: Cuts } = {}) {
    const { signal, cuts } = stops
    return new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = () => {
        cancel()
        signal?.removeEventListener('abort', abort)
        cuts?.delete(cut)
      }
      const cut = (error: Error) => {
        end()
        reject(error)
      }
      const abort = () => {
        end()
        reject(signal?.reason)
      }
      const finish = () => {
        end()
        resolve()
      }
      const cancel = ms === Number.POSITIVE_INFINITY ? () => {} : this.at(ms, what, finish)
      signal?.addEventListener('abort', abort, { once: true })
      cuts?.add(cut)
    })
  }

  /** Does nothing for `ms`; what was due meanwhile comes after it, in any order. */
  stall(ms: number): void {
    if (this.#state !== 'running') return
    this.#world.note(`${this.name} stalls for ${ms.toFixed(0)} ms`)
    this.#state = 'stalled'
    if (ms === Number.POSITIVE_INFINITY) return
    this.#world.clock.after(ms, () => {
      if (this.#state !== 'stalled') return
      this.#state = 'running'
      for (const happen of this.#held.splice(0)) this.#world.clock.after(0, happen)
    })
  }

  /** No code runs here any more. */
  lose(): void {
    if (this.#state === 'lost') return
    this.#world.note(`${this.name} is lost`)
    this.#state = 'lost'
    this.#held.length = 0
    for (const heard of this.#onLost.splice(0)) heard()
  }

  onLost(heard: () => void): void {
    this.#onLost.push(heard)
  }

  #setTimer(delayMs: number, wake: () => void): CancelTimer {
    const timer = {}
    this.#timers.add(timer)
    const ms = delayMs >= 1 && delayMs <= MAX_TIMER_MS ? Math.trunc(delayMs) : 1
    const cancel = this.at(ms + this.#lateness(), 'timer', () => {
      this.#timers.delete(timer)
      wake()
    })
    return () => {
      this.#timers.delete(timer)
      cancel()
    }
  }

  #lateness(): number {
    return this.#world.chance(this.#pace.lateShare) ? this.#world.duration(this.#pace.lateMs) : 0
  }
}
