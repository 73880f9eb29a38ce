import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import type { Address } from './address.ts'
import type { Binding } from './binding.ts'

/** The reply to `tasks.start`: `prompt`, and whatever keys the template added. */
export interface PromptFrame {
  readonly prompt: unknown
  readonly [key: string]: unknown
}

/** The reply to `tasks.grade`: a finite `score`, and whatever the grader added. */
export interface GradeFrame {
  readonly score: number
  readonly [key: string]: unknown
}

/** One entry of `tasks.list`. */
export interface TaskManifest {
  readonly id: string
  readonly description: string
  /** JSON Schema of the arguments, when known. */
  readonly args?: Readonly<Record<string, unknown>>
  readonly returns?: Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

/** The client's end of one control session. Every call rejects with `session-lost` once the connection is gone. */
export interface ControlSession {
  readonly sessionId: string
  readonly env: { readonly name: string; readonly version: string }
  readonly bindings: readonly Binding[]
  /** True when the peer is ours and more sessions share the connection. */
  readonly multiplexed: boolean
  /**
   * What is asked from now on is part of that span, a W3C `traceparent`, which is said to peers that draw spans and to no others. The next call
   * replaces it.
   */
  carry(traceparent: string): void
  listTasks(signal?: AbortSignal): Promise<readonly TaskManifest[]>
  /** Rejects with `remote-error` (`details.code` is the JSON-RPC code) when the environment answers with an error. */
  startTask(id: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<PromptFrame>
  grade(answer: unknown, signal?: AbortSignal): Promise<GradeFrame>
  /** Asks the peer to drop the task in progress; waits 2 s at most. */
  cancelTask(): Promise<void>
  /** Leaves the session parked at the peer, to be resumed by its id; even an idle one, where the peer is ours. */
  park(): Promise<void>
  /** Ends the session. True when the peer's goodbye was seen. Bounded, never rejects. */
  end(): Promise<boolean>
  /** A raw stream to a capability: one `tunnel.open` connection. The caller closes it. */
  openTunnel(capability: string, signal?: AbortSignal): Promise<Duplex>
  /** Cuts the session without a word; parked at the peer if a task is in progress. */
  abort(): void
}

export interface ConnectOptions {
  readonly clock: Clock
  /** Connect and `hello` are tried again until this many milliseconds have passed; then `connect-timeout`. */
  readonly deadlineMs: number
  /** Resume this parked session instead of opening one. */
  readonly sessionId?: string
  readonly signal?: AbortSignal
  /** End the session, rather than park it, when its connection drops. Our own servers only; others park. */
  readonly ephemeral?: boolean
  /** What the `hello` is part of, as a W3C `traceparent`: among what peers of ours alone look at. */
  readonly traceparent?: string
  /** Milliseconds between heartbeats; 120,000 when absent. */
  readonly heartbeatMs?: number
}

/** Opens sessions. One a thread; it keeps the multiplexed connections to peers that can share them. */
export interface ControlClient {
  connect(address: Address, options: ConnectOptions): Promise<ControlSession>
  /** Closes every connection. Sessions still open are cut. */
  close(): Promise<void>
}
