import type { GroupId } from '../../ids.ts'
import type { StepEnd } from '../records.ts'
import type { OptimStepOptions } from '../trainer.ts'
import { lossNotFinite, optimStepFailed, stepNotOver } from './errors.ts'
import type { OptimCall } from './events.ts'
import { type CallRecord, type CallTotals, type OptimMark, type StepLedger, stateOf, sumCalls } from './ledger.ts'
import { optimKey } from './marks.ts'
import { adopt } from './open-step.ts'
import { ask, askCheckpoints, type TrainerPorts } from './trainer-ports.ts'

/** The reason of a group whose graded rewards are all equal. */
export const NO_SPREAD = 'no-reward-spread'

export interface StepToClose {
  readonly step: number
  /** Every group of the step. */
  readonly groups: readonly GroupId[]
  /** Those that were never to be trained on, and why. */
  readonly dropped: readonly { readonly groupId: GroupId; readonly reason: string }[]
  readonly optim: OptimStepOptions
  /** With fewer trained groups the learning rate falls in proportion; 0 leaves it alone. */
  readonly fullRateGroups: number
}

export interface StepClosed extends CallTotals {
  readonly type: 'step-closed'
  readonly step: number
  readonly end: StepEnd
  readonly optimStep: number | null
  /** What the step was made with; 0 when it was skipped. */
  readonly learningRate: number
  /** Its answer did not come just now, and the checkpoint was found. */
  readonly adopted: boolean
  /** Of the optimiser step, where its answer came just now. */
  readonly optimCall?: OptimCall
}

/**
 * One optimiser step, if anything was accepted. Rejects with `step-not-over` while a group has no end, `loss-not-finite` when a call
 * gave no number, and `optim-step-failed`.
 */
export async function closeStep(
  ports: TrainerPorts,
  ledger: StepLedger,
  closing: StepToClose,
): Promise<{ readonly ledger: StepLedger; readonly reply: StepClosed }> {
  checkOver(ledger, closing)
  const poisoned = ledger.calls.find(isPoisoned)
  if (poisoned !== undefined) throw lossNotFinite(ledger.step, poisoned.groups)
  const { consumed } = sumCalls(ledger)
  if (consumed.length === 0) {
    await settle(ports, ledger, closing)
    const end: StepEnd = { type: 'skipped', reason: whySkipped(ledger, closing) }
    return { ledger, reply: toReply(ledger, end, false) }
  }
  const earlier = ledger.optim?.type === 'stepped' ? ledger.optim : undefined
  const optim = earlier ?? (await step(ports, ledger, closing, consumed.length))
  const after = { ...ledger, optim }
  await settle(ports, after, closing)
  const end: StepEnd = { type: 'trained', checkpointId: optim.checkpointId }
  const reply = toReply(after, end, earlier === undefined && optim.adopted)
  const { startedAt, tookMs } = optim
  const isNew = earlier === undefined && startedAt !== undefined
  return { ledger: after, reply: isNew ? { ...reply, optimCall: { startedAt, tookMs } } : reply }
}

/** Few groups make a small gradient, which Adam's scaling would blow up to a whole step. */
export function scaleLearningRate(learningRate: number, trainedGroups: number, fullRateGroups: number): number {
  return fullRateGroups <= 0 ? learningRate : learningRate * Math.min(1, trainedGroups / fullRateGroups)
}

async function step(
  ports: TrainerPorts,
  ledger: StepLedger,
  { optim, fullRateGroups }: StepToClose,
  trainedGroups: number,
): Promise<Extract<OptimMark, { readonly type: 'stepped' }>> {
  const { clock, records, trainer } = ports
  const learningRate = scaleLearningRate(optim.learningRate, trainedGroups, fullRateGroups)
  const known = (await askCheckpoints(ports)).map(({ id }) => id)
  const stepping = { type: 'stepping', known, learningRate } as const
  await records.put(optimKey(ledger.step), stepping)
  const begun = clock.now()
  const startedAt = clock.wallTime()
  try {
    const result = await ask(ports, 'optim-step', () => trainer.optimStep({ ...optim, learningRate }))
    const stepped = {
      type: 'stepped',
      checkpointId: result.policyVersion,
      optimStep: result.step ?? (ledger.optimSteps ?? 0) + 1,
      learningRate,
      tookMs: clock.now() - begun,
      startedAt,
      adopted: false,
    } as const
    await records.put(optimKey(ledger.step), stepped)
    return stepped
  } catch (error) {
    // It may have happened all the same. If that cannot be found out now, the mark stays and the next process looks again.
    const adopted = await adopt(ports, ledger, stepping).catch(() => undefined)
    if (adopted !== undefined) return adopted
    throw optimStepFailed(ledger.step, error)
  }
}

/** Its gradient is in the model's, and is no number. */
function isPoisoned({ end }: CallRecord): boolean {
  if (end.type !== 'over') return false
  const isNoNumber = end.error?.tag === 'loss-not-finite' || (end.loss !== null && !Number.isFinite(end.loss))
  return isNoNumber && end.accepted.length > 0
}

function checkOver(ledger: StepLedger, { groups, dropped }: StepToClose): void {
  const left = new Set(dropped.map(({ groupId }) => groupId))
  const isOpen = (groupId: GroupId) => ['pending', 'sending'].includes(stateOf(ledger, groupId).type)
  const open = groups.filter(groupId => !left.has(groupId) && isOpen(groupId))
  if (open.length > 0) throw stepNotOver(ledger.step, open)
}

/** The job's ledger says what is in the model, so a group is entered as consumed only now. */
async function settle({ records }: TrainerPorts, ledger: StepLedger, { dropped }: StepToClose): Promise<void> {
  const totals = sumCalls(ledger)
  await Promise.all([
    ...totals.consumed.map(groupId => records.settle(groupId, 'consumed')),
    ...[...totals.dropped, ...dropped].map(({ groupId, reason }) => records.settle(groupId, 'dropped', reason)),
  ])
}

function whySkipped(ledger: StepLedger, { dropped }: StepToClose): Extract<StepEnd, { type: 'skipped' }>['reason'] {
  if (ledger.calls.some(({ end }) => end.type === 'over')) return 'nothing-accepted'
  // A few that agree do not excuse that most were lost or stale.
  const agreed = dropped.filter(({ reason }) => reason === NO_SPREAD).length
  return agreed > 0 && agreed * 2 >= dropped.length ? 'no-spread' : 'no-groups'
}

function toReply(ledger: StepLedger, end: StepEnd, adopted: boolean): StepClosed {
  const optim = ledger.optim?.type === 'stepped' ? ledger.optim : undefined
  return {
    type: 'step-closed',
    step: ledger.step,
    end,
    optimStep: optim?.optimStep ?? null,
    learningRate: optim?.learningRate ?? 0,
    adopted,
    ...sumCalls(ledger),
  }
}
