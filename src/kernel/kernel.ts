import type { Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { Directive } from './actor.ts'
import type { Codec } from './codec.ts'
import type { Connection } from './connection.ts'
import type { DeadLetter } from './dead-letters.ts'
import type { Deadlines } from './deadlines.ts'
import type { Questions } from './questions.ts'
import type { Reference } from './reference.ts'
import type { RunQueue } from './run-queue.ts'

/** One failure of an actor: what it threw and what its parent made of it; `stop-failed` when `onStop` threw or was late. */
export interface Failure {
  readonly address: string
  readonly error: ErrorData
  readonly directive: Directive | 'stop-failed'
}

/** What the parts of one system know of each other. */
export interface Kernel {
  readonly node: string
  readonly clock: Clock
  readonly random: () => number
  readonly runQueue: RunQueue
  readonly deadlines: Deadlines
  readonly codec: Codec
  readonly encodeLocal: boolean
  readonly stopDeadlineMs: number
  /** By id, which are from 1 up. */
  readonly actors: Map<number, Reference>
  readonly questions: Questions
  deadLetter(letter: DeadLetter, count?: number): void
  failed(failure: Failure): void
  /** A fresh actor id; ids are never used twice. */
  nextActorId(): number
  /** True if an actor with that id has been started on this node, whether or not it still runs. */
  wasStarted(id: number): boolean
  /** The connection that leads to `node`; undefined when none does. */
  route(node: string): Connection | undefined
  /** The actor or the open question with that id. */
  find(id: number): Reference | undefined
  resolve(address: string): Reference
}
