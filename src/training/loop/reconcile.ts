import type { AccumulatedState, Checkpoint } from '../trainer.ts'
import { deliveryUnknown } from './errors.ts'
import { type CallEnd, type CallRecord, type OptimMark, type StepLedger, withCall } from './ledger.ts'

/**
 * The ledger of a process that is gone, as far as the service can complete it, when its optimiser step has not happened. A call
 * whose answer never came stays unknown, and is never sent again, unless the service's count says where it went. A service that
 * holds nothing has lost what it had accepted: those groups may be sent again, for they were rolled back with it.
 */
export function reconcile(ledger: StepLedger, state: AccumulatedState | undefined): readonly CallRecord[] {
  // Where it has taken an optimiser step since, holding nothing is no loss.
  const isEmpty = state?.calls === 0 && (ledger.optimSteps === null || state.step === ledger.optimSteps)
  return ledger.calls.flatMap((record): CallRecord[] => {
    const { end } = record
    if (end.type === 'sending') return [{ ...record, end: endOf(record, isEmpty, state) }]
    const wasAccepted = end.type === 'over' && end.accepted.length > 0
    return isEmpty && wasAccepted ? [{ ...record, end: { type: 'rolled-back', why: 'lost-by-service' } }] : []
  })
}

function endOf({ groups, callsBefore }: CallRecord, isEmpty: boolean, state: AccumulatedState | undefined): CallEnd {
  if (isEmpty || (state !== undefined && state.calls === callsBefore))
    return { type: 'rolled-back', why: 'not-delivered' }
  const isDelivered = state !== undefined && callsBefore !== null && state.calls === callsBefore + 1
  return {
    type: 'over',
    accepted: isDelivered ? groups : [],
    rejected: [],
    unknown: isDelivered ? [] : groups,
    datums: 0,
    loss: null,
    tookMs: 0,
    error: isDelivered ? null : deliveryUnknown(groups).data,
  }
}

export function withCalls(ledger: StepLedger, records: readonly CallRecord[]): StepLedger {
  return records.reduce(withCall, ledger)
}

/** The checkpoint that an optimiser step left whose answer never came: one that was not there before, the served one if there are several. */
export function findNewer(
  checkpoints: readonly Checkpoint[],
  { known }: Extract<OptimMark, { readonly type: 'stepping' }>,
): Checkpoint | undefined {
  const newer = checkpoints.filter(({ id }) => !known.includes(id))
  return newer.find(({ isActive }) => isActive) ?? newer.at(-1)
}

/** Optimiser steps between a checkpoint and the model's base: the length of the way up the tree. */
export function depthOf(checkpoints: readonly Checkpoint[], checkpoint: Checkpoint): number {
  const byId = new Map(checkpoints.map(each => [each.id, each]))
  const seen = new Set<string>()
  let at: Checkpoint | undefined = checkpoint
  while (at !== undefined && !seen.has(at.id)) {
    seen.add(at.id)
    at = at.parentId === null ? undefined : byId.get(at.parentId)
  }
  return seen.size
}
