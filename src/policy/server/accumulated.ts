import type { AccumulateResult, Loss } from '../policy.ts'
import { alreadyCounted, mixedSubsteps } from './errors.ts'
import { addTallies, emptyTally, type Tally } from './metrics.ts'
import type { AccumulatedRecord, LaterPlan, ModelRecord } from './records.ts'

/** One accepted call, as it is added to what is accumulated. */
export interface CountedCall {
  readonly callId: string | undefined
  readonly tally: Tally
  readonly lossName: AccumulatedRecord['lossName']
  readonly later: LaterPlan | null
  readonly figures: Readonly<Record<string, number>>
}

export const nothingLearned: AccumulateResult = { loss: 0, tokens: 0, kl: 0, clipped: 0 }

/** Throws `already-counted` where a call of this id is in the accumulated gradient, or in the head or what that descends from. */
export function refuseCounted(model: ModelRecord, callId: string | undefined): void {
  if (callId === undefined) return
  if (model.accumulated?.callIds.includes(callId) === true) throw alreadyCounted(callId)
  for (let id = model.head; id !== null; ) {
    const checkpoint = model.checkpoints.find(each => each.id === id)
    if (checkpoint?.callIds.includes(callId) === true) throw alreadyCounted(callId)
    id = checkpoint?.parent ?? null
  }
}

/** Throws `mixed-substeps` where a call would be learned from in another way than those before it. */
export function refuseMixed(before: AccumulatedRecord | null, later: LaterPlan | null): void {
  if (before !== null && describe(before.later) !== describe(later))
    throw mixedSubsteps(describe(before.later), describe(later))
}

export function withCall(
  before: AccumulatedRecord | null,
  call: CountedCall,
): Omit<AccumulatedRecord, 'gradient' | 'kept'> {
  return {
    calls: (before?.calls ?? 0) + 1,
    callIds: [...(before?.callIds ?? []), ...(call.callId === undefined ? [] : [call.callId])],
    tally: addTallies(before?.tally ?? emptyTally, call.tally),
    lossName: call.lossName,
    later: call.later,
    figures: { ...before?.figures, ...call.figures },
  }
}

/** In words that are the same for the same plan. */
function describe(later: LaterPlan | null): string {
  if (later === null) return 'one substep'
  const { numSubsteps, epochs, loss } = later
  return `${numSubsteps} substeps and ${epochs} epochs of ${describeLoss(loss)}`
}

function describeLoss({ name, ...config }: Loss): string {
  const settings = Object.entries(config).map(([key, value]) => `${key} ${value}`)
  return settings.length === 0 ? name : `${name} (${settings.join(', ')})`
}
