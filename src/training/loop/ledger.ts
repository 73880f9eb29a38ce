import type { ErrorData } from '../../errors.ts'
import type { GroupId } from '../../ids.ts'

/** One `forwardBackward` call as it is journaled: before it is sent, and again when its end is known. */
export interface CallRecord {
  /** From 0 in its step; never used twice. */
  readonly call: number
  readonly groups: readonly GroupId[]
  /** What the service said it had accumulated before; null where it does not tell. */
  readonly callsBefore: number | null
  readonly end: CallEnd
}

export type CallEnd =
  | { readonly type: 'sending' }
  | {
      readonly type: 'over'
      readonly accepted: readonly GroupId[]
      readonly rejected: readonly GroupId[]
      /** Delivered or not, nobody can tell. They are never sent again. */
      readonly unknown: readonly GroupId[]
      readonly datums: number
      /** Null when the call's answer never came. */
      readonly loss: number | null
      readonly tookMs: number
      /** Milliseconds since 1970; absent where the answer never came to the process that sent it. */
      readonly startedAt?: number
      readonly error: ErrorData | null
    }
  /** Nothing of it is in the model, on the service's own word: its groups are as if they had never been sent. */
  | { readonly type: 'rolled-back'; readonly why: RollBack }

export type RollBack = 'not-delivered' | 'lost-by-service'

/** The step's one optimiser call: marked before it is sent with what was known then, so that a later process can see whether it happened. */
export type OptimMark =
  | {
      readonly type: 'stepping'
      /** Every checkpoint that was there before. */
      readonly known: readonly string[]
      readonly learningRate: number
    }
  | {
      readonly type: 'stepped'
      readonly checkpointId: string
      /** The service's count of optimiser steps after this one. */
      readonly optimStep: number
      readonly learningRate: number
      readonly tookMs: number
      /** Milliseconds since 1970; absent where it was adopted. */
      readonly startedAt?: number
      /** Its answer never came; the checkpoint was found afterwards. */
      readonly adopted: boolean
    }

/** What one training step has sent so far. A value: each change gives a new one. */
export interface StepLedger {
  readonly step: number
  /** Optimiser steps of the model before this step; null where nobody has said. */
  readonly optimSteps: number | null
  readonly calls: readonly CallRecord[]
  readonly optim: OptimMark | undefined
}

/** Why a group that was sent is not in the model. */
export type DeliveryDrop = 'rejected' | 'delivery-unknown'

export type GroupState =
  | { readonly type: 'pending' }
  | { readonly type: 'sending' }
  | { readonly type: 'consumed' }
  | { readonly type: 'dropped'; readonly reason: DeliveryDrop }

export function stateOf(ledger: StepLedger, groupId: GroupId): GroupState {
  for (const { groups, end } of ledger.calls) {
    if (end.type === 'rolled-back' || !groups.includes(groupId)) continue
    if (end.type === 'sending') return { type: 'sending' }
    if (end.accepted.includes(groupId)) return { type: 'consumed' }
    return { type: 'dropped', reason: end.rejected.includes(groupId) ? 'rejected' : 'delivery-unknown' }
  }
  return { type: 'pending' }
}

/** With this call's record in place of the one it had, if it had one. */
export function withCall(ledger: StepLedger, record: CallRecord): StepLedger {
  return { ...ledger, calls: [...ledger.calls.filter(({ call }) => call !== record.call), record] }
}

/** Numbers go up over calls of earlier processes too. */
export function nextCall(ledger: StepLedger): number {
  return Math.max(-1, ...ledger.calls.map(({ call }) => call)) + 1
}

export interface CallTotals {
  readonly consumed: readonly GroupId[]
  readonly dropped: readonly { readonly groupId: GroupId; readonly reason: DeliveryDrop }[]
  /** Calls of which something was accepted. */
  readonly chunks: number
  readonly datums: number
  /** Null when no call gave one. */
  readonly loss: number | null
  readonly trainMs: number
}

export function sumCalls(ledger: StepLedger): CallTotals {
  const ends = ledger.calls.flatMap(({ end }) => (end.type === 'over' ? [end] : []))
  const losses = ends.flatMap(({ loss }) => (loss === null ? [] : [loss]))
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return {
    consumed: ends.flatMap(end => end.accepted),
    dropped: ends.flatMap(end => [
      ...end.rejected.map(groupId => ({ groupId, reason: 'rejected' as const })),
      ...end.unknown.map(groupId => ({ groupId, reason: 'delivery-unknown' as const })),
    ]),
    chunks: ends.filter(end => end.accepted.length > 0).length,
    datums: sum(ends.map(end => end.datums)),
    loss: losses.length === 0 ? null : sum(losses),
    trainMs: sum(ends.map(end => end.tookMs)) + (ledger.optim?.type === 'stepped' ? ledger.optim.tookMs : 0),
  }
}
