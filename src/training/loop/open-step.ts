import { sleep } from '../../clock.ts'
import type { GroupId } from '../../ids.ts'
import type { CallRecord, OptimMark, RollBack, StepLedger } from './ledger.ts'
import { callKey, optimKey, parseStepMarks, stepPrefix } from './marks.ts'
import { depthOf, findNewer, reconcile, withCalls } from './reconcile.ts'
import { askCheckpoints, askState, type TrainerPorts } from './trainer-ports.ts'

export interface StepToOpen {
  readonly step: number
  /** Optimiser steps of the model before it; null where nobody has said. */
  readonly optimSteps: number | null
}

export interface StepOpened {
  readonly type: 'step-opened'
  readonly step: number
  /** The optimiser step had happened, though its answer never came. */
  readonly adopted: string | null
  /** Calls of which nothing is in the model, so that their groups are sent again. */
  readonly rolledBack: readonly { readonly groups: readonly GroupId[]; readonly why: RollBack }[]
}

/** Begins a step, or takes up one that an earlier process left: what it sent is looked up, and never sent again. */
export async function openStep(
  ports: TrainerPorts,
  { step, optimSteps }: StepToOpen,
): Promise<{ readonly ledger: StepLedger; readonly reply: StepOpened }> {
  const marks = parseStepMarks(await ports.records.list(stepPrefix(step)))
  const found: StepLedger = { step, optimSteps, ...marks }
  const optim = found.optim?.type === 'stepping' ? await findOut(ports, found, found.optim) : found.optim
  if (optim?.type === 'stepped') {
    const adopted = found.optim?.type === 'stepping' ? optim.checkpointId : null
    return { ledger: { ...found, optim }, reply: { type: 'step-opened', step, adopted, rolledBack: [] } }
  }
  const changed = found.calls.length === 0 ? [] : reconcile(found, await askState(ports))
  for (const record of changed) await ports.records.put(callKey(step, record.call), record)
  return {
    ledger: { ...withCalls(found, changed), optim: undefined },
    reply: { type: 'step-opened', step, adopted: null, rolledBack: changed.flatMap(toRollBack) },
  }
}

/** Whether the optimiser step that was marked happened. One that a process sent as it died may take a moment to show. */
async function findOut(
  ports: TrainerPorts,
  ledger: StepLedger,
  mark: Extract<OptimMark, { readonly type: 'stepping' }>,
): Promise<OptimMark> {
  const atOnce = await adopt(ports, ledger, mark)
  if (atOnce !== undefined) return atOnce
  await sleep(ports.clock, ports.settleMs)
  return (await adopt(ports, ledger, mark)) ?? mark
}

/** The mark of an optimiser step that happened without an answer, or undefined if it did not happen. Written before it is returned. */
export async function adopt(
  ports: TrainerPorts,
  { step, optimSteps }: StepLedger,
  mark: Extract<OptimMark, { readonly type: 'stepping' }>,
): Promise<Extract<OptimMark, { readonly type: 'stepped' }> | undefined> {
  const checkpoints = await askCheckpoints(ports)
  const newer = findNewer(checkpoints, mark)
  if (newer === undefined) return undefined
  const optimStep = optimSteps === null ? depthOf(checkpoints, newer) : optimSteps + 1
  const { learningRate } = mark
  const stepped = {
    type: 'stepped',
    checkpointId: newer.id,
    optimStep,
    learningRate,
    tookMs: 0,
    adopted: true,
  } as const
  await ports.records.put(optimKey(step), stepped)
  return stepped
}

function toRollBack({ groups, end }: CallRecord): StepOpened['rolledBack'] {
  return end.type === 'rolled-back' ? [{ groups, why: end.why }] : []
}
