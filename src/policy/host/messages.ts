import type { ErrorData } from '../../errors.ts'
import type { PolicyOptions } from './options.ts'

/** What the server's thread is started with. A clock cannot be sent: the thread has the system's. */
export type ThreadOptions = Omit<PolicyOptions, 'clock'>

export type FromThread =
  | { readonly type: 'ready'; readonly url: string; readonly model: string }
  | { readonly type: 'failed'; readonly error: ErrorData }

/** Answered by the thread's end. */
export interface ToThread {
  readonly type: 'close'
}
