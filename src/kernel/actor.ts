import type { CancelTimer, Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { Question, Ref, ReplyOf } from './ref.ts'

/** What a parent does with a child whose `receive` threw. The names and their meaning are Erlang/OTP's. */
export type Directive = 'resume' | 'restart' | 'stop' | 'escalate'

/** How a parent treats a failing child. More than `intensity` restarts within `periodMs` escalate. */
export interface Supervision {
  readonly decide: (error: ErrorData) => Directive
  readonly intensity: number
  readonly periodMs: number
  /** Pause before restart number n: `min(maxMs, baseMs * 2^(n-1))`, times a random factor between 0.5 and 1. */
  readonly backoff: { readonly baseMs: number; readonly maxMs: number }
}

/** What the system itself tells an actor; delivered before any waiting message. */
export type Signal =
  | { readonly type: 'terminated'; readonly address: string; readonly reason: StopReason }
  | { readonly type: 'child-failed'; readonly address: string; readonly error: ErrorData }

/** Why an actor has stopped. */
export type StopReason =
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly error: ErrorData }
  /** The thread or connection that the actor lived behind is gone. */
  | { readonly type: 'link-down'; readonly error: ErrorData }
  /** No actor has, or ever had, that address. */
  | { readonly type: 'unknown' }

/** How a promise that was piped to an actor ended. */
export type Settled<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ErrorData }

/**
 * An actor is a value. It handles one message at a time; `receive` is synchronous, returns the next state and starts
 * anything slow through `context.pipe`.
 */
export interface Actor<State, Message> {
  readonly name: string
  readonly initial: (context: Context<Message>) => State
  readonly receive: (state: State, message: Message, context: Context<Message>) => State
  readonly onSignal?: (state: State, signal: Signal, context: Context<Message>) => State
  /** Runs once when the actor stops, after its children have stopped. Bounded by the system's stop deadline. */
  readonly onStop?: (state: State, context: Context<Message>) => void | Promise<void>
  /** Waiting messages at most, 10,000 when absent; one more becomes a dead letter with the reason `mailbox-full`. */
  readonly capacity?: number
  /** How this actor treats its children. Absent: restart, 3 in 5 s, back-off from 100 ms to 5 s. */
  readonly supervision?: Supervision
}

/** What an actor can do while it handles a message. */
export interface Context<Message> {
  readonly self: Ref<Message>
  readonly clock: Clock
  /** A number in [0, 1), from the system's seeded source. */
  random(): number
  /** Answers the message that is being received. For an answer given later, keep `replyTo` and `tell` it. */
  reply<Asked>(question: Asked, answer: ReplyOf<Asked>): void
  /** Where the answer to the message being received goes; absent when it was told, not asked. */
  readonly replyTo: Ref<unknown> | undefined
  /** Starts a child. Its name is `name`, or the actor's name and a number; a name in use throws. */
  spawn<ChildState, ChildMessage>(actor: Actor<ChildState, ChildMessage>, name?: string): Ref<ChildMessage>
  /** Stops a child or, without an argument, this actor: children first, in reverse order of their start. */
  stop(child?: Ref<never>): void
  /** Asks for one `terminated` signal when the other actor, near or far, is gone; at once if it is unknown. */
  watch(other: Ref<never>): void
  unwatch(other: Ref<never>): void
  ask<Asked extends Question<unknown>>(
    ref: Ref<NoInfer<Asked>>,
    question: Asked,
    deadlineMs: number,
  ): Promise<ReplyOf<Asked>>
  /** Tells this actor how `promise` ended. Dropped, and counted as a dead letter, if the actor has stopped by then. */
  pipe<Value>(promise: Promise<Value>, toMessage: (settled: Settled<Value>) => Message): void
  /** Tells this actor `message` after `delayMs`; stops with the actor. */
  after(delayMs: number, message: Message): CancelTimer
}
