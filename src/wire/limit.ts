import type { CancelTimer, Clock } from '../clock.ts'

/**
 * One deadline and one abort signal over a row of steps, of which one at a time is under way: cheaper than an AbortController a step,
 * and connecting is done once a rollout. `release` it when the last step is done.
 */
export class Limit {
  readonly clock: Clock
  readonly #signal: AbortSignal | undefined
  readonly #cancelTimer: CancelTimer
  /** Set once the deadline has passed or the signal has aborted. */
  #cut: { readonly reason: unknown } | undefined
  #onCut: ((reason: unknown) => void) | undefined
  readonly #onAbort = () => this.#expire(this.#signal?.reason)

  /** `late` makes the error of a passed deadline, when it passes. */
  constructor(clock: Clock, deadlineMs: number, signal: AbortSignal | undefined, late: () => Error) {
    this.clock = clock
    this.#signal = signal
    this.#cancelTimer = clock.after(deadlineMs, () => this.#expire(late()))
    if (signal?.aborted) this.#expire(signal.reason)
    else signal?.addEventListener('abort', this.#onAbort)
  }

  /** The step's outcome, or the cut; `onCut` then undoes the step. */
  race<Value>(step: Promise<Value>, onCut?: () => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      const cut = (reason: unknown) => {
        onCut?.()
        reject(reason)
      }
      if (this.#cut !== undefined) {
        step.catch(ignoreLateFailure)
        cut(this.#cut.reason)
        return
      }
      this.#onCut = cut
      step.then(resolve, reject)
    })
  }

  pause(delayMs: number): Promise<void> {
    let cancel: CancelTimer = () => {}
    const elapsed = new Promise<void>(resolve => {
      cancel = this.clock.after(delayMs, resolve)
    })
    return this.race(elapsed, () => cancel())
  }

  release(): void {
    this.#onCut = undefined
    this.#cancelTimer()
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }

  #expire(reason: unknown): void {
    if (this.#cut !== undefined) return
    this.#cut = { reason }
    const onCut = this.#onCut
    this.#onCut = undefined
    onCut?.(reason)
  }
}

/** The caller has been told of the cut; how the abandoned step ended concerns nobody. */
function ignoreLateFailure(): void {}
