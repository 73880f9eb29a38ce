import type { Run } from '../rollout/run.ts'

/** Built-in losses of the training service; a service names those it has under `losses`. */
export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro'

/** How a trainer makes a gradient of a chunk. */
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

/** What a trainer tells of one chunk. */
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

/** What every trainer tells of an optimiser step. */
export interface PolicyStep {
  /** The weights that are served from now on: the name that turns carry as their `version`. Never the same twice. */
  readonly policyVersion: string
  /** Optimiser steps of this model so far. Absent: the loop counts its own. */
  readonly step?: number
}

/** The same of a service that keeps a checkpoint of each. */
export interface OptimStepResult extends PolicyStep {
  readonly step: number
  /** The policy's version, too. */
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
 * What trains a policy on groups of runs: all that the training loop needs of it. Gradients accumulate over `forwardBackward` calls until
 * `optimStep` applies them. Calls come one after the other, and none that changes the policy is ever made again: a second delivery would
 * count a batch twice. docs/trainers.md has what follows from that for one of your own.
 */
export interface Trainer {
  /** What it trains: the slug or id of a model. */
  readonly model: string
  /**
   * Adds to the gradient. `runs` are whole groups, members side by side, `groupSize` in each; absent, all of them are one group. An error
   * may say in its `details` what became of the groups: `{ accepted, rejected, unknown }`, lists of group ids. Those that it does
   * not name are unknown, and are left out for good.
   */
  forwardBackward(runs: readonly Run[], options?: ForwardBackwardOptions): Promise<ForwardBackwardResult>
  /** Applies what was accumulated, and serves the result. Rejects where nothing was. */
  optimStep(options: OptimStepOptions): Promise<PolicyStep>
  /**
   * The weights that are served; null before the first optimiser step. It answers after every call that reached the trainer before: when
   * the answer of an `optimStep` was lost, this is how it is found out whether it happened.
   */
  policyVersion(): Promise<string | null>
  /** What it has accumulated; undefined, or absent, where it does not tell. With it, more can be saved of a step that was interrupted. */
  state?(): Promise<AccumulatedState | undefined>
  /** The tree of checkpoints, oldest first, by the names that `optimStep` gives; absent where only the newest version is kept. */
  checkpoints?(): Promise<readonly Checkpoint[]>
  /** Frees what it holds open here. Whoever made it calls it; the training itself is kept. Twice is once. */
  close?(): Promise<void>
}
