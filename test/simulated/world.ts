import type { CancelTimer } from '../../src/clock.ts'
import { makeRandom, mixSeed } from '../../src/random.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

/** Far more than any run of a few groups takes. */
const MAX_EVENTS = 200_000
/** Virtual time by which any of them is over: what still waits then waits for ever. */
const MAX_MS = 6 * 60 * 60_000
/** Turns of the event loop that anything takes in a row without a timer. */
const YIELDS = 4

/**
 * All that one seed decides: one clock, one source of chance, and one agenda of what is still to happen. Events of the same moment
 * happen in a drawn order, each alone: what promises it settled is done before the next.
 */
export class World {
  readonly clock: VirtualClock
  /** What happened, in order. Empty unless it was asked for. */
  readonly trace: string[] = []
  events = 0
  readonly isTraced: boolean
  readonly #random: () => number
  #violation: Error | undefined

  constructor(seed: number, traced: boolean) {
    this.#random = makeRandom(mixSeed(seed, 1))
    this.isTraced = traced
    this.clock = new VirtualClock(undefined, this.#random)
  }

  /** A number in [0, 1). */
  random(): number {
    return this.#random()
  }

  chance(share: number): boolean {
    return share > 0 && this.#random() < share
  }

  between(least: number, most: number): number {
    return least + this.#random() * (most - least)
  }

  /** Both ends included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1))
  }

  /** Milliseconds around `meanMs`: mostly shorter, at times much longer. */
  duration(meanMs: number): number {
    return -meanMs * Math.log(1 - this.#random())
  }

  /** Something outside every node: the provider's own, a fault. */
  at(delayMs: number, what: string, run: () => void): CancelTimer {
    return this.clock.after(delayMs, () => {
      this.note(what)
      run()
    })
  }

  note(what: string): void {
    if (this.isTraced) this.trace.push(`${this.clock.now().toFixed(3)} ${what}`)
  }

  /** What must never be was seen. The first one ends the seed. */
  violate(what: string): void {
    this.note(`VIOLATION ${what}`)
    this.#violation ??= new Error(what)
  }

  get violation(): Error | undefined {
    return this.#violation
  }

  /** Lets things happen until `done`. Throws at a violation, and when what is waited for will never be. */
  async until(done: () => boolean, waitingFor: string): Promise<void> {
    await turn()
    while (!done()) {
      this.#check(waitingFor)
      if (!(await this.#fireNext()) && !done())
        throw new Error(`dead lock: nothing is left to happen, and ${waitingFor} is not there`)
      this.events += 1
      await turn()
    }
    if (this.#violation !== undefined) throw this.#violation
  }

  /** Lets `ms` pass, whatever happens meanwhile. */
  async pass(ms: number): Promise<void> {
    let over = false
    this.clock.after(ms, () => {
      over = true
    })
    await this.until(() => over, 'the end of a pause')
  }

  /** What `promise` comes to, as soon as it does. */
  async settled<Value>(promise: Promise<Value>, what: string): Promise<Value> {
    let over = false
    const end = () => {
      over = true
    }
    promise.then(end, end)
    await this.until(() => over, what)
    return promise
  }

  /** What yields to the event loop by itself, as a rollout that was cut does, may be about to set the only timer. */
  async #fireNext(): Promise<boolean> {
    for (let turns = 0; turns < YIELDS && this.clock.pending === 0; turns += 1) await turn()
    return this.clock.fireNext()
  }

  #check(waitingFor: string): void {
    if (this.#violation !== undefined) throw this.#violation
    if (this.events >= MAX_EVENTS) throw new Error(`after ${MAX_EVENTS} events ${waitingFor} is not there`)
    if (this.clock.now() >= MAX_MS) throw new Error(`dead lock: after ${MAX_MS} ms ${waitingFor} is not there`)
  }
}

/** Until every promise job has run: no time of any clock passes. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
