import type { EvaluationRecord, StepRecord } from '../records.ts'
import { policyMoved } from './errors.ts'
import type { TrainingHistory } from './events.ts'
import {
  BASE_KEY,
  type Base,
  EVALUATIONS_PREFIX,
  optimKey,
  parseBase,
  parseEvaluations,
  parseStepMarks,
  parseStepRecords,
  STEPS_PREFIX,
} from './marks.ts'
import type { TrainSettings } from './options.ts'
import { askCheckpoints, askState, type TrainerPorts } from './trainer-ports.ts'

/** Where a training stands when it begins, or goes on. */
export interface Kept {
  readonly steps: readonly StepRecord[]
  readonly evaluations: readonly EvaluationRecord[]
  /** What the model was when the job began. */
  readonly base: Base
}

/**
 * Reads what earlier processes recorded, and looks whether the model still is what they made of it. Rejects with `policy-moved` when
 * somebody has set its head elsewhere, unless the training is over and needs no model.
 */
export async function readHistory({ job, steps }: TrainSettings, ports: TrainerPorts): Promise<Kept> {
  const history: TrainingHistory = {
    steps: parseStepRecords(await job.records.list(STEPS_PREFIX)),
    evaluations: parseEvaluations(await job.records.list(EVALUATIONS_PREFIX)),
  }
  const base = parseBase(await job.records.list(BASE_KEY))
  if (base === undefined) {
    const begun = { head: await askHead(ports), optimSteps: (await askState(ports))?.step ?? null }
    await job.records.put(BASE_KEY, begun)
    return { ...history, base: begun }
  }
  if (history.steps.length < steps) await checkHead(ports, history.steps, base)
  return { ...history, base }
}

async function askHead(ports: TrainerPorts): Promise<string | null> {
  return (await askCheckpoints(ports)).find(({ isActive }) => isActive)?.id ?? null
}

async function checkHead(ports: TrainerPorts, steps: readonly StepRecord[], base: Base): Promise<void> {
  const next = (steps.at(-1)?.step ?? -1) + 1
  const { optim } = parseStepMarks(await ports.records.list(optimKey(next)))
  // Its own optimiser step is looked for when the step is opened.
  if (optim?.type === 'stepping') return
  const last = steps.findLast(({ end }) => end.type === 'trained')?.end
  const left = optim?.checkpointId ?? (last?.type === 'trained' ? last.checkpointId : base.head)
  const checkpoints = await askCheckpoints(ports)
  const found = checkpoints.find(({ isActive }) => isActive)?.id ?? null
  // A service that names its checkpoints otherwise in the list than in its answers cannot be checked; one that has none has lost them.
  const isNamed = ports.trainer.checkpoints === undefined || checkpoints.some(({ id }) => id === left)
  const isListed = left === null || checkpoints.length === 0 || isNamed
  if (found !== left && isListed) throw policyMoved(left, found)
}
