import type { Signal } from './actor.ts'
import type { Reference } from './reference.ts'
import { Ring } from './ring.ts'

/** A question in a mailbox: the message, and where its answer goes. */
export class Asked {
  readonly question: unknown
  readonly replyTo: Reference

  constructor(question: unknown, replyTo: Reference) {
    this.question = question
    this.replyTo = replyTo
  }
}

/** What waits for one actor. Signals have a lane of their own, which `takeSignal` empties first. */
export class Mailbox {
  readonly capacity: number
  readonly messages = new Ring<unknown>()
  private signals: Ring<Signal> | undefined

  constructor(capacity: number) {
    this.capacity = capacity
  }

  /** False, and nothing kept, when the mailbox is full. */
  offer(entry: unknown): boolean {
    if (this.messages.size >= this.capacity) return false
    this.messages.push(entry)
    return true
  }

  /** For what the actor asked for itself (`pipe`, `after`): bounded by what it started, so never refused. */
  force(entry: unknown): void {
    this.messages.push(entry)
  }

  addSignal(signal: Signal): void {
    this.signals ??= new Ring()
    this.signals.push(signal)
  }

  takeSignal(): Signal | undefined {
    return this.signals?.shift()
  }

  get empty(): boolean {
    return this.messages.size === 0 && (this.signals === undefined || this.signals.size === 0)
  }
}
