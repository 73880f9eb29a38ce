import type { AgentSpec } from '../../agents/agent.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { Job } from '../../job/job.ts'
import type { RunOptions } from '../../job/options.ts'
import { checkChunkLimits, DEFAULT_HELD_BYTES } from '../../stream/chunk-options.ts'
import type { Taskset } from '../../taskset/taskset.ts'
import type { LossName, OptimStepOptions, Trainer } from '../trainer.ts'
import { badTrainOptions } from './errors.ts'

/** What the loop needs of a job. */
export type TrainingJob = Pick<Job, 'jobId' | 'seed' | 'resumed' | 'stream' | 'records'> &
  Partial<Pick<Job, 'expect' | 'lost'>>

export interface TrainOptions extends TrainShape {
  /** Holds the runs and the records: the same job, resumed, goes on where it was. */
  readonly job: TrainingJob
  readonly taskset: Taskset
  readonly agent: AgentSpec
  readonly trainer: Trainer
  /** Of every rollout: runtime, concurrency, deadlines and so on, where the job's own defaults do not say it. */
  readonly run?: Omit<RunOptions, 'group' | 'seed' | 'signal' | 'step' | 'round'>
  /** Ends the training in order: the call that is under way comes to its end and into the record, and nothing is lost. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** For each answer of the training service. Default 600,000. */
  readonly callDeadlineMs?: number
  /**
   * Of a step's rollouts at least this share must have been graded, or the training stops with `too-few-graded` before the optimiser step: what survives
   * an outage is no fair sample. 0 never stops. Default 0.5. It may be another when the same job goes on.
   */
  readonly minGradedShare?: number
  /**
   * How long before a step is expected to begin the job's prewarmed pool is told of it: as long as it takes to be filled. Default: as soon as the rollouts before are
   * over, which keeps sandboxes ready for as long as training takes.
   */
  readonly poolLeadMs?: number
  /** On resume: how long an optimiser step that a dead process sent may still take to show. Default 2,000. */
  readonly settleMs?: number
}

/** What is learned how: two trainings of the same shape, model and seed are the same. */
export interface TrainShape {
  readonly steps: number
  /** Attempts at each task, compared with each other. */
  readonly group: number
  readonly learningRate: number
  readonly adam?: Omit<OptimStepOptions, 'learningRate'>
  /** Default `importance_sampling`. */
  readonly loss?: { readonly name: LossName; readonly config?: Readonly<Record<string, number>> }
  /** Default 1. */
  readonly substeps?: number
  /** Default 1. */
  readonly rewardScale?: number
  /**
   * From so many trained groups on the learning rate is the whole one; with fewer it falls in proportion, because Adam would
   * blow their small gradient up to a whole step. Default: half of the planned groups. `false` never scales.
   */
  readonly scaleByGroups?: number | false
  readonly chunk?: {
    /** Runs in one call at most. Default 16, or one group where that is more. */
    readonly trajectories?: number
    /** Packed bytes in one call at most. Default 8 MiB. */
    readonly bytes?: number
    /** Packed bytes of groups that may wait for an earlier one in planned order. Default 256 MiB. */
    readonly heldBytes?: number
  }
  /** `planned` (default): the same seed gives the same calls, whatever was slow. `completion`: groups as they end. */
  readonly order?: 'planned' | 'completion'
  /** Default true: chunks are trained on while other rollouts run. `false` waits for all of them, as the published loop does. */
  readonly overlap?: boolean
  /**
   * How many optimiser steps the weights that put a group out may be behind those it is trained with. Default 0: the next step's
   * rollouts begin after the optimiser step. From 1 on they begin as soon as this step's rollouts are over. An evaluation always
   * waits for the weights it measures, and the steps after it for the evaluation.
   */
  readonly maxPolicyLag?: number
  /** Rolls out up to so many further groups a step in place of those without reward spread. Default: none. */
  readonly dynamicSampling?: { readonly maxExtraGroups: number }
  /**
   * Groups that lack graded members. `train` (default): in a call of their own with their own size, if two are left and differ.
   * `drop`: not at all.
   */
  readonly shortGroups?: 'train' | 'drop'
  /** Tasks in each step, drawn by the seed; none comes again before all have come. Default: all of them. */
  readonly tasksPerStep?: number
  readonly evaluation?: EvaluationShape
}

/** What is measured without being trained on, how often and when. */
export interface EvaluationShape {
  /** What is measured, by the name of the split. */
  readonly splits: Readonly<Record<string, Taskset>>
  /** Attempts at each task. Default: the training's. */
  readonly group?: number
  /** Also after each so many steps. Default: only first and last. */
  readonly every?: number
  /** Before the first step. Default true. */
  readonly first?: boolean
  /** After the last step. Default true. */
  readonly last?: boolean
}

const MIB = 1024 * 1024
const DEFAULT_CHUNK_RUNS = 16

/** With every default filled in. */
export type TrainSettings = ReturnType<typeof toTrainSettings>

/** Throws `bad-train-option` or `bad-chunk-limit` with everything that cannot work, before anything is started. */
export function toTrainSettings(options: TrainOptions) {
  const { group, taskset, evaluation } = options
  const groups = Math.min(options.tasksPerStep ?? taskset.tasks.length, taskset.tasks.length)
  const settings = {
    ...options,
    adam: options.adam ?? {},
    loss: options.loss ?? { name: 'importance_sampling' as const },
    substeps: options.substeps ?? 1,
    rewardScale: options.rewardScale ?? 1,
    fullRateGroups: options.scaleByGroups === false ? 0 : (options.scaleByGroups ?? groups / 2),
    chunk: {
      maxTrajectories: options.chunk?.trajectories ?? Math.max(DEFAULT_CHUNK_RUNS, group),
      maxBytes: options.chunk?.bytes ?? 8 * MIB,
      maxHeldBytes: options.chunk?.heldBytes ?? DEFAULT_HELD_BYTES,
    },
    order: options.order ?? 'planned',
    overlap: options.overlap ?? true,
    maxPolicyLag: options.maxPolicyLag ?? 0,
    maxExtraGroups: options.dynamicSampling?.maxExtraGroups ?? 0,
    shortGroups: options.shortGroups ?? 'train',
    tasksPerStep: groups,
    evaluation: {
      splits: evaluation?.splits ?? {},
      group: evaluation?.group ?? group,
      every: evaluation?.every ?? 0,
      first: evaluation?.first ?? true,
      last: evaluation?.last ?? true,
    },
    run: options.run ?? {},
    clock: options.clock ?? systemClock,
    callDeadlineMs: options.callDeadlineMs ?? 600_000,
    minGradedShare: options.minGradedShare ?? 0.5,
    poolLeadMs: options.poolLeadMs,
    settleMs: options.settleMs ?? 2_000,
  } as const
  const problems = findProblems(options)
  if (problems.length > 0) throw badTrainOptions(problems)
  checkChunkLimits(settings.chunk, group)
  return settings
}

function findProblems(options: TrainOptions): string[] {
  const { adam, evaluation, learningRate, scaleByGroups } = options
  const unit = (name: string, value: number | undefined) =>
    value === undefined || (value >= 0 && value < 1) ? [] : [`${name} is ${value}, not a number from 0 to below 1`]
  return [
    ...wholeNumber('steps', options.steps, 1),
    ...wholeNumber('group', options.group, 1),
    ...positive('learningRate', learningRate),
    ...unit('adam.beta1', adam?.beta1),
    ...unit('adam.beta2', adam?.beta2),
    ...positive('adam.eps', adam?.eps ?? 1),
    ...(adam?.weightDecay === undefined || adam.weightDecay >= 0 ? [] : ['adam.weightDecay is below 0']),
    ...wholeNumber('substeps', options.substeps ?? 1, 1),
    ...positive('rewardScale', options.rewardScale ?? 1),
    ...(scaleByGroups === undefined || scaleByGroups === false ? [] : positive('scaleByGroups', scaleByGroups)),
    ...wholeNumber('maxPolicyLag', options.maxPolicyLag ?? 0, 0),
    ...wholeNumber('dynamicSampling.maxExtraGroups', options.dynamicSampling?.maxExtraGroups ?? 0, 0),
    ...wholeNumber('tasksPerStep', options.tasksPerStep ?? 1, 1),
    ...wholeNumber('evaluation.group', evaluation?.group ?? 1, 1),
    ...wholeNumber('evaluation.every', evaluation?.every ?? 1, 1),
    ...positive('callDeadlineMs', options.callDeadlineMs ?? 1),
    ...positive('poolLeadMs', options.poolLeadMs ?? 1),
    ...share('minGradedShare', options.minGradedShare ?? 0),
    ...Object.keys(evaluation?.splits ?? {}).flatMap(name =>
      name === '' || name.includes('/') ? [`"${name}" cannot name a split: it is empty or has a slash`] : [],
    ),
  ]
}

function wholeNumber(name: string, value: number, least: number): string[] {
  return Number.isInteger(value) && value >= least ? [] : [`${name} is ${value}, not a whole number from ${least} up`]
}

function share(name: string, value: number): string[] {
  return value >= 0 && value <= 1 ? [] : [`${name} is ${value}, not a share from 0 to 1`]
}

function positive(name: string, value: number): string[] {
  return value > 0 && Number.isFinite(value) ? [] : [`${name} is ${value}, not a number above 0`]
}
