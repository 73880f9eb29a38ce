import type { Duplex } from 'node:stream'
import type { Binding } from '../wire/binding.ts'
import type { GradeFrame, PromptFrame, TaskManifest } from '../wire/session.ts'

/** What a control-channel server needs from an environment. The server owns connections and parking; this owns templates. */
export interface ServedEnvironment {
  readonly name: string
  readonly version: string
  tasks(): readonly TaskManifest[]
  /** Problems with the arguments, all of them at once, before any side effect; empty when they fit. Unknown id: one problem. */
  checkTask(id: string, args: Readonly<Record<string, unknown>>): readonly string[]
  /** Makes the session's own context (its workspace directory, its keys). */
  openSession(sessionId: string): Promise<ServedSession>
  /** The daemon behind a capability, for `tunnel.open`. Rejects with `unknown-capability`. */
  connectCapability(name: string): Promise<Duplex>
  /** Ends what is shared by all sessions. Sessions are closed first, by the server. */
  close(): Promise<void>
}

/** One session of an environment: at most one task in progress. */
export interface ServedSession {
  readonly bindings: readonly Binding[]
  readonly hasTask: boolean
  /** Replaces (cancels) a task in progress. */
  start(id: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<PromptFrame>
  /** Consumes the task in progress. */
  grade(params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<GradeFrame>
  /** Drops the task in progress and runs teardown hooks; nothing to do is fine. */
  cancel(): Promise<void>
  /** Cancels, then removes the workspace and kills what still runs in it. */
  close(): Promise<void>
}
