import type { ErrorData } from '../errors.ts'
import type { LeaseId } from '../ids.ts'
import type { Address } from '../wire/address.ts'
import type { LeaseRequest } from './lease-queue.ts'

/** How a sandbox is reached: the part of it that is data. */
export interface Reachable {
  readonly address: Address
  /** The parked session to resume; absent when the rollout says the first `hello`. */
  readonly sessionId: string | undefined
}

/**
 * Where one sandbox is in its life. Times are the clock's milliseconds. What is gone has no state: the ledger only counts it.
 */
export type SandboxState =
  /** Its create was sent for a request that waits. */
  | { readonly type: 'creating'; readonly since: number; readonly request: LeaseRequest }
  /** Its create was sent ahead of any request. */
  | { readonly type: 'stocking'; readonly since: number }
  /** Nobody wants it any more, and its create has not ended yet. */
  | { readonly type: 'cancelling' }
  | { readonly type: 'ready'; readonly since: number; readonly at: Reachable }
  | { readonly type: 'leased'; readonly leaseId: LeaseId }
  /** `attempt` counts from 1. */
  | { readonly type: 'deleting'; readonly attempt: number; readonly sessionEnded: boolean }
  /** Would not die. It may still exist and cost money, so it is never forgotten. */
  | { readonly type: 'quarantined'; readonly error: ErrorData }

export type SandboxStateType = SandboxState['type']

/** The states that may follow each state; `gone` may follow where it is listed. */
export const transitions: Readonly<Record<SandboxStateType, readonly (SandboxStateType | 'gone')[]>> = {
  creating: ['creating', 'stocking', 'cancelling', 'ready', 'quarantined', 'gone'],
  stocking: ['creating', 'cancelling', 'ready', 'quarantined', 'gone'],
  cancelling: ['deleting', 'quarantined', 'gone'],
  ready: ['leased', 'deleting'],
  leased: ['deleting'],
  deleting: ['deleting', 'quarantined', 'gone'],
  quarantined: ['deleting', 'gone'],
}
