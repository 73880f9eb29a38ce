import { VirtualClock } from '../../support/virtual-clock.ts'
import type { SseStep } from './sse-server.ts'

export const STALL_MS = 1_234

/** Tells pauses between attempts from the watch for silence, which runs whenever an attempt does. */
export class PausesClock extends VirtualClock {
  readonly passed: number[] = []
  /** Timers set so far. */
  set = 0
  #last = 0
  #requests = 0
  #stalled = 0

  override after(delayMs: number, wake: () => void): () => void {
    this.#last = delayMs
    this.set += 1
    return super.after(delayMs, wake)
  }

  /** A pause has begun, or an attempt whose stream will say nothing more; that once a request, as the next one is not there at once. */
  canPass(requests: number, script: readonly SseStep[]): boolean {
    this.#requests = requests
    if (this.pending === 0) return false
    if (this.#last !== STALL_MS) return true
    const step = script[Math.min(requests, script.length) - 1]
    return requests > this.#stalled && step !== undefined && 'events' in step && step.end === 'silence'
  }

  async pass(): Promise<void> {
    if (this.#last === STALL_MS) this.#stalled = this.#requests
    this.passed.push(this.#last)
    await this.advance(this.#last)
  }
}
