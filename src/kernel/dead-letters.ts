import type { ErrorData } from '../errors.ts'

/** Why a message reached nobody. */
export type DeadLetterReason =
  | 'mailbox-full'
  | 'stopped'
  | 'unknown'
  /** The actor threw while it handled it. */
  | 'failed'
  | 'link-down'
  | 'not-data'
  | 'undecodable'
  /** An answer to a question whose deadline had passed. */
  | 'late-reply'

/** One message that reached nobody, or one batch that could not be read (then `message` is absent). */
export interface DeadLetter {
  readonly address: string
  readonly reason: DeadLetterReason
  readonly message?: unknown
  readonly error?: ErrorData
}

export class DeadLetters {
  total = 0
  readonly #byReason = new Map<DeadLetterReason, number>()
  readonly #report: ((letter: DeadLetter) => void) | undefined

  constructor(report: ((letter: DeadLetter) => void) | undefined) {
    this.#report = report
  }

  add(letter: DeadLetter, count = 1): void {
    this.total += count
    this.#byReason.set(letter.reason, (this.#byReason.get(letter.reason) ?? 0) + count)
    this.#report?.(letter)
  }

  counts(): { total: number; byReason: Record<string, number> } {
    return { total: this.total, byReason: Object.fromEntries(this.#byReason) }
  }
}
