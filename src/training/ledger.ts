import type { Delivery } from '../models/errors.ts'
import type { CallState } from './errors.ts'

/** `sending`, then counted by the service, certainly not counted, or nobody here can say (connection lost, 5xx, deadline). */
export type LedgerState = 'sending' | Delivery

/** One body that was sent to accumulate a gradient. */
export interface LedgerEntry {
  /** Counts a client's calls from 1; a call that was split has several bodies. */
  readonly call: number
  readonly runIds: readonly string[]
  readonly groupIds: readonly string[]
  readonly bytes: number
  readonly state: LedgerState
  /** Null until the service has told. */
  readonly numDatums: number | null
}

/** Whose tokens a body carries. */
export type Sent = Pick<LedgerEntry, 'runIds' | 'groupIds'>

/** What became of every body since the last optimiser step. Says nothing of bodies that another process sent. */
export class Ledger {
  #entries: LedgerEntry[] = []

  get entries(): readonly LedgerEntry[] {
    return this.#entries
  }

  /** Before the first byte is sent. The first of the returned function's calls settles it, further ones do nothing. */
  open(call: number, sent: Sent, bytes: number): (state: Delivery, numDatums?: number) => void {
    const opened: LedgerEntry = { call, ...sent, bytes, state: 'sending', numDatums: null }
    const entries = this.#entries
    const place = entries.push(opened) - 1
    return (state, numDatums) => {
      if (entries[place] === opened) entries[place] = { ...opened, state, numDatums: numDatums ?? null }
    }
  }

  /** The step has applied, or made void, what came before it. */
  clear(): void {
    this.#entries = []
  }
}

/**
 * The groups of one call by what became of them. A body that was too large and was sent again in parts is rejected as a whole and
 * accepted in parts: what says most wins. Groups that were never sent are rejected.
 */
export function toCallState(entries: readonly LedgerEntry[], groupIds: readonly string[]): CallState {
  const inState = (state: LedgerState) =>
    new Set(entries.filter(entry => entry.state === state).flatMap(entry => entry.groupIds))
  const accepted = inState('accepted')
  const unknown = inState('unknown')
  return {
    accepted: groupIds.filter(id => accepted.has(id)),
    unknown: groupIds.filter(id => unknown.has(id) && !accepted.has(id)),
    rejected: groupIds.filter(id => !accepted.has(id) && !unknown.has(id)),
  }
}
