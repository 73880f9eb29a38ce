import type { ErrorData } from '../errors.ts'
import type { StopReason } from './actor.ts'
import type { DeadLetterReason } from './dead-letters.ts'
import type { Ref } from './ref.ts'

/** Whoever wants to hear once that an actor is gone: an actor, a promise, a node that passes it on. */
export interface Watcher {
  terminated(address: string, reason: StopReason): void
}

/** What every ref is underneath. The codec knows refs by this class. */
export abstract class Reference implements Ref<unknown> {
  abstract readonly address: string
  abstract tell(message: unknown): boolean
  /** Delivers a question whose answer goes to `replyTo`; what cannot be delivered is reported to `replyTo.undelivered`. */
  abstract ask(question: unknown, replyTo: Reference): void
  abstract addWatcher(watcher: Watcher): void
  abstract removeWatcher(watcher: Watcher): void
  /** Tells a reply ref that its question reached nobody. Does nothing for the ref of an actor. */
  undelivered(_address: string, _reason: DeadLetterReason, _cause?: ErrorData): void {}
}
