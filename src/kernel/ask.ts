import { type ErrorData, toErrorData } from '../errors.ts'
import type { StopReason } from './actor.ts'
import { formatAddress } from './address.ts'
import type { DeadLetterReason } from './dead-letters.ts'
import type { DeadlineList, Expiring } from './deadlines.ts'
import { askLinkDown, askTimeout, undelivered } from './errors.ts'
import type { Kernel } from './kernel.ts'
import { Reference, type Watcher } from './reference.ts'

// One function for all promises: a closure for each would be a fifth of what a question costs.
const captured: { resolve: (answer: unknown) => void; reject: (error: Error) => void } = {
  resolve: () => {},
  reject: () => {},
}
function capture(resolve: (answer: unknown) => void, reject: (error: Error) => void): void {
  captured.resolve = resolve
  captured.reject = reject
}

/**
 * One open question: the promise the asker holds, and the ref its answer goes to. It gets an id, and so an address, only
 * when it leaves this thread.
 */
export class Ask extends Reference implements Expiring {
  readonly promise: Promise<unknown>
  /** The connection the question left by: when that goes down, so does the question. */
  via: object | undefined
  dueAt = 0
  previous: Expiring | undefined
  next: Expiring | undefined
  /** Where its deadline waits; undefined once it is answered, has failed or is late. */
  list: DeadlineList | undefined
  private readonly kernel: Kernel
  private readonly to: Reference
  /** 0 as long as it is known in this thread only. */
  id = 0
  private readonly resolve: (answer: unknown) => void
  private readonly reject: (error: Error) => void

  constructor(kernel: Kernel, to: Reference, deadlineMs: number) {
    super()
    this.kernel = kernel
    this.to = to
    this.promise = new Promise(capture)
    this.resolve = captured.resolve
    this.reject = captured.reject
    kernel.deadlines.set(this, deadlineMs)
  }

  get address(): string {
    return formatAddress(this.kernel.node, '~', this.register())
  }

  /** The id by which another node can answer. */
  register(): number {
    if (this.id === 0) {
      this.id = this.kernel.questions.add(this)
      if (this.list === undefined) this.kernel.questions.delete(this.id)
    }
    return this.id
  }

  override tell(answer: unknown): boolean {
    if (this.list === undefined) {
      this.kernel.deadLetter({ address: this.address, reason: 'late-reply', message: answer })
      return false
    }
    const { kernel } = this
    let copy = answer
    try {
      if (kernel.encodeLocal) copy = kernel.codec.copy(answer)
    } catch (thrown) {
      this.undelivered(this.to.address, 'not-data', toErrorData(thrown))
      return false
    }
    this.close()
    this.resolve(copy)
    return true
  }

  override ask(question: unknown, replyTo: Reference): void {
    this.kernel.deadLetter({ address: this.address, reason: 'unknown', message: question })
    replyTo.undelivered(this.address, 'unknown')
  }

  override undelivered(address: string, reason: DeadLetterReason, cause?: ErrorData): void {
    this.fail(() => undelivered(address, reason, cause))
  }

  linkDown(down: ErrorData): void {
    this.fail(() => askLinkDown(this.to.address, down))
  }

  expire(deadlineMs: number): void {
    this.fail(() => askTimeout(this.to.address, deadlineMs))
  }

  abandon(): void {
    this.fail(() => undelivered(this.to.address, 'stopped'))
  }

  /** An open question is no actor: whoever watches it hears `unknown` at once. */
  override addWatcher(watcher: Watcher): void {
    const reason: StopReason = { type: 'unknown' }
    watcher.terminated(this.address, reason)
  }

  override removeWatcher(): void {}

  private fail(error: () => Error): void {
    if (this.list === undefined) return
    this.close()
    this.reject(error())
  }

  private close(): void {
    this.kernel.deadlines.drop(this)
    if (this.id !== 0) this.kernel.questions.delete(this.id)
  }
}
