import type { EvaluationRecord, StepRecord } from '../records.ts'
import { type Interval, wilsonInterval } from './interval.ts'
import { PUBLISHED, type PublishedColumn, type PublishedRow } from './published.ts'

/** One step as `train_run.json` holds it: the published columns first and in their order, then ours. Seconds and shares. */
export interface StepRow extends Omit<PublishedRow, 'loss' | 'optim_step'> {
  /** Null when nothing was trained on. */
  readonly loss: number | null
  readonly optim_step: number | null
  readonly status: 'trained' | 'skipped'
  /** Why it was skipped. */
  readonly reason: string | null
  readonly checkpoint_id: string | null
  readonly planned_groups: number
  readonly trained_groups: number
  readonly without_spread: number
  readonly added_groups: number
  readonly dropped: Readonly<Record<string, number>>
  readonly learning_rate: number
  readonly versions: Readonly<Record<string, number>>
  readonly wall_s: number
}

export interface EvaluationRow {
  readonly after_steps: number
  readonly split: string
  readonly runs: number
  readonly solved: number
  readonly pass_rate: number
  readonly errored: number
  readonly wall_s: number
  /** Wilson's, 95 %, of the graded runs. */
  readonly interval: Interval
  readonly versions: Readonly<Record<string, number>>
}

/** What a training leaves behind for others to lay beside theirs. */
export interface Receipt {
  readonly name: string
  readonly model: string
  readonly trainer: string
  readonly seed: number
  readonly settings: Readonly<Record<string, unknown>>
  /** With what it was made. */
  readonly made: {
    readonly version: string
    readonly node: string
    readonly cores: number
    readonly platform: string
  }
  /** The published columns: the first keys of every step. */
  readonly columns: readonly PublishedColumn[]
  readonly steps: readonly StepRow[]
  readonly evaluations: readonly EvaluationRow[]
}

/** Everything but what was measured. */
export type ReceiptHead = Omit<Receipt, 'columns' | 'steps' | 'evaluations'>

export interface TrainingRecords {
  readonly steps: readonly StepRecord[]
  readonly evaluations: readonly EvaluationRecord[]
}

/** Pure. A step or evaluation that is there twice, as after a resume, counts once: the later one. */
export function makeReceipt(head: ReceiptHead, { steps, evaluations }: TrainingRecords): Receipt {
  const bySteps = new Map(steps.map(record => [record.step, record]))
  const byPlace = new Map(evaluations.map(record => [`${record.afterSteps} ${record.split}`, record]))
  const { name, model, trainer, seed, settings, made } = head
  return {
    name,
    model,
    trainer,
    seed,
    settings,
    made,
    columns: PUBLISHED.columns,
    steps: [...bySteps.values()].sort((one, other) => one.step - other.step).map(toStepRow),
    evaluations: [...byPlace.values()].sort((one, other) => one.afterSteps - other.afterSteps).map(toEvaluationRow),
  }
}

export function toStepRow(record: StepRecord): StepRow {
  return {
    step: record.step,
    runs: record.runs,
    solved: record.solved,
    pass_rate: round(record.passRate),
    errored: record.errored,
    group_spread: round(record.groupSpread),
    samples: record.samples,
    tokens: record.tokens,
    rollout_s: seconds(record.rolloutMs),
    loss: record.loss === null ? null : round(record.loss),
    datums: record.datums,
    chunks: record.chunks,
    train_s: seconds(record.trainMs),
    optim_step: record.optimStep,
    status: record.end.type,
    reason: record.end.type === 'skipped' ? record.end.reason : null,
    checkpoint_id: record.end.type === 'trained' ? record.end.checkpointId : null,
    planned_groups: record.groups.planned,
    trained_groups: record.groups.trained,
    without_spread: record.groups.withoutSpread,
    added_groups: record.groups.added,
    dropped: record.groups.dropped,
    learning_rate: record.learningRate,
    versions: record.versions,
    wall_s: seconds(record.wallMs),
  }
}

export function toEvaluationRow(record: EvaluationRecord): EvaluationRow {
  const [low, high] = wilsonInterval(record.solved, record.runs - record.errored)
  return {
    after_steps: record.afterSteps,
    split: record.split,
    runs: record.runs,
    solved: record.solved,
    pass_rate: round(record.passRate),
    errored: record.errored,
    wall_s: seconds(record.wallMs),
    interval: [round(low), round(high)],
    versions: record.versions,
  }
}

/** Four digits after the point, as published. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000
}
