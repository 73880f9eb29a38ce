import { tooManyCalls } from './errors.ts'

/** Calls that must not overlap, in the order they were made. */
export class InTurn {
  readonly #limit: number
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs `work` when all before it have settled, however they did. Rejects with `too-many-training-calls` at once when full. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#waiting >= this.#limit) throw tooManyCalls(this.#limit)
    this.#waiting += 1
    const mine = this.#last.then(work)
    // What fails is told to whoever called; the next only waits for it.
    this.#last = mine.catch(() => {})
    try {
      return await mine
    } finally {
      this.#waiting -= 1
    }
  }
}
