import type { Clock } from '../../clock.ts'
import type { ModelEndpoint } from '../../models/endpoint.ts'

/** What an embedded policy starts from, and what it runs on. */
export interface PolicyOptions {
  /** The policy file that the model starts from. */
  readonly base: string
  /** What the model is called, as chat completions name it; default `policy`, or what it is called in the directory. */
  readonly name?: string
  /** Where checkpoints and what is accumulated are kept, made if missing. Without one they end with the server. */
  readonly directory?: string
  /** Threads that sample; default 1. */
  readonly samplers?: number
  /** Default 127.0.0.1: only this machine can reach it. There is no key: whoever can reach it can train it. */
  readonly host?: string
  /** Default 0: one that is free. */
  readonly port?: number
  readonly clock?: Clock
}

/** A policy that can be asked and trained over HTTP. */
export interface ServedPolicy extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly url: string
  /** All three services, at that address. */
  readonly endpoint: ModelEndpoint
  /** The model's name. */
  readonly model: string
  /** Cancels completions, lets the training call under way end and be saved, refuses those that wait. */
  close(): Promise<void>
}
