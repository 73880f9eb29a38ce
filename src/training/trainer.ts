import type { Run } from '../rollout/run.ts'

/** Built-in losses of the training service; a service names those it has under `losses`. */
export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro'

export interface ForwardBackwardOptions {
  /** Default `importance_sampling`. */
  readonly lossFn?: LossName
  /** Passed on to the loss as it is, for instance `{ clip_low_threshold: 0.8, clip_high_threshold: 1.28 }` for ppo. */
  readonly lossFnConfig?: Readonly<Record<string, number>>
  /** Runs in each group. Advantages are taken within contiguous groups of this size; absent, all runs are one group. */
  readonly groupSize?: number
  /** Default 1. */
  readonly rewardScale?: number
  /** Default 1. */
  readonly numSubsteps?: number
}

export interface ForwardBackwardResult {
  /** `loss:sum` among them: the sum over tokens, not their mean. */
  readonly metrics: Readonly<Record<string, number>>
  /** Samples (one a turn) that were trained on. */
  readonly numDatums: number
}

/** Adam's. */
export interface OptimStepOptions {
  /** Above 0. */
  readonly learningRate: number
  /** Default 0.9. */
  readonly beta1?: number
  /** Default 0.95. */
  readonly beta2?: number
  /** Default 1e-8. */
  readonly eps?: number
  /** Default 0. */
  readonly weightDecay?: number
}

export interface OptimStepResult {
  /** Optimiser steps of this model so far. */
  readonly step: number
  readonly checkpointId: string
  readonly samplerPath: string
  readonly statePath: string
  readonly model: string
}

/** One node of a model's tree of checkpoints. */
export interface Checkpoint {
  readonly id: string
  readonly name: string | null
  readonly parentId: string | null
  /** The weights that are served now. */
  readonly isActive: boolean
  readonly createdAt: string | null
  readonly numDatums: number | null
  readonly numTokens: number | null
  readonly meanReward: number | null
  readonly learningRate: number | null
  readonly lossFn: string | null
  readonly metrics: Readonly<Record<string, number>>
}

/** What a service can tell of the gradients it holds. It answers after every call that reached it before. */
export interface AccumulatedState {
  /** Optimiser steps of the model so far. */
  readonly step: number
  /** `forwardBackward` calls accumulated since the last of them. */
  readonly calls: number
}

/**
 * What trains a model on groups of runs. Gradients accumulate over `forwardBackward` calls until `optimStep` applies them. No call
 * that changes the model is ever retried: a second delivery would count a batch twice.
 */
export interface Trainer {
  /** The slug or id it trains. */
  readonly model: string
  forwardBackward(runs: readonly Run[], options?: ForwardBackwardOptions): Promise<ForwardBackwardResult>
  optimStep(options: OptimStepOptions): Promise<OptimStepResult>
  /** Oldest first. */
  checkpoints(): Promise<readonly Checkpoint[]>
  /** The served checkpoint; undefined while that is the model's base. */
  head(): Promise<Checkpoint | undefined>
  /** What it has accumulated; undefined, or absent, where the service does not tell. With it, more can be saved of a step that was interrupted. */
  state?(): Promise<AccumulatedState | undefined>
  /** Rolls back to a checkpoint, or branches from it. */
  setHead(checkpointId: string): Promise<void>
}
