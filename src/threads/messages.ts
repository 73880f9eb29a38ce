import type { MessagePort } from 'node:worker_threads'
import type { ErrorData } from '../errors.ts'
import type { Question, Ref } from '../kernel/ref.ts'

/** What a thread is started with. Plain data and the port: it is cloned by piscina. */
export interface ThreadTask {
  readonly node: string
  readonly parent: string
  readonly port: MessagePort
  readonly entry: string
  readonly data: unknown
  /** The address of the pool's inbox. */
  readonly inbox: string
}

/** How a thread's task ended when it ended by itself. */
export type ThreadEnd = { readonly type: 'stopped' } | { readonly type: 'failed'; readonly error: ErrorData }

/** Told to the pool's inbox when a thread's shard has started. */
export interface ThreadUp {
  readonly type: 'thread-up'
  readonly node: string
  readonly root: Ref<never>
  readonly warden: Ref<WardenMessage>
}

/** Answered whenever the thread's event loop turns. */
export interface Pulse extends Question<true> {
  readonly type: 'pulse'
}

/** Stops the thread's actors in order, then ends its task. */
export interface StopThread {
  readonly type: 'stop-thread'
}

export type WardenMessage = Pulse | StopThread

/** Told to the pool's inbox when the pool has closed. */
export interface CloseInbox {
  readonly type: 'close-inbox'
}
