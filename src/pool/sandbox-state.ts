import type { ErrorData } from '../errors.ts'
import type { LeaseId } from '../ids.ts'
import type { SandboxOrigin } from '../runtimes/runtime.ts'
import type { Address } from '../wire/address.ts'
import type { LeaseRequest } from './lease-queue.ts'

/** How a sandbox is reached, and how it came to be: the part of it that is data. */
export interface Reachable {
  readonly address: Address
  /** The parked session to resume; absent when the rollout says the first `hello`. */
  readonly sessionId: string | undefined
  readonly origin: SandboxOrigin
}

/**
 * Where one sandbox is in its life. Times are the clock's milliseconds. What is gone has no state: the ledger only counts it. Whether a fork of it is in
 * flight is the fork tree's to know; what nobody may have because of that has a state of its own.
 */
export type SandboxState =
  /** Its create was sent for it to be a parent of forks, and nothing else. */
  | { readonly type: 'rooting'; readonly since: number }
  /** Kept to be forked; never leased. */
  | { readonly type: 'root'; readonly at: Reachable }
  /** Its create was sent for a request that waits. */
  | { readonly type: 'creating'; readonly since: number; readonly request: LeaseRequest }
  /** Its create was sent ahead of any request. */
  | { readonly type: 'stocking'; readonly since: number }
  /** Nobody wants it any more, and its create has not ended yet. It is called off once no fork of it is in flight. */
  | { readonly type: 'cancelling' }
  | { readonly type: 'ready'; readonly at: Reachable }
  /** As good as ready: it was made ahead of any request, and a fork of it is in flight. */
  | { readonly type: 'forking'; readonly at: Reachable }
  /** The same, made for a request that waits. */
  | { readonly type: 'owed'; readonly at: Reachable; readonly request: LeaseRequest }
  | { readonly type: 'leased'; readonly leaseId: LeaseId }
  /** Nobody wants it any more, but a fork of it is in flight. */
  | { readonly type: 'leaving' }
  /** `attempt` counts from 1. */
  | { readonly type: 'deleting'; readonly attempt: number; readonly sessionEnded: boolean }
  /** Would not die. It may still exist and cost money, so it is never forgotten. */
  | { readonly type: 'quarantined'; readonly error: ErrorData }

export type SandboxStateType = SandboxState['type']

/** The states that may follow each state; `gone` may follow where it is listed. */
export const transitions: Readonly<Record<SandboxStateType, readonly (SandboxStateType | 'gone')[]>> = {
  rooting: ['root', 'stocking', 'cancelling', 'quarantined', 'gone'],
  root: ['ready', 'forking', 'leaving', 'deleting'],
  creating: ['creating', 'stocking', 'cancelling', 'ready', 'owed', 'quarantined', 'gone'],
  stocking: ['creating', 'cancelling', 'ready', 'forking', 'quarantined', 'gone'],
  cancelling: ['leaving', 'deleting', 'quarantined', 'gone'],
  ready: ['forking', 'leased', 'deleting'],
  forking: ['ready', 'owed', 'leaving'],
  owed: ['ready', 'owed', 'forking', 'leaving'],
  leased: ['deleting'],
  leaving: ['deleting'],
  deleting: ['deleting', 'quarantined', 'gone'],
  quarantined: ['deleting', 'gone'],
}
