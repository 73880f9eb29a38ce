/** One optimiser step of a training, as it is kept and shown. The first fourteen figures are those of the published run. */
export interface StepRecord {
  readonly step: number
  readonly runs: number
  /** Runs with the full reward of 1. */
  readonly solved: number
  readonly passRate: number
  /** Runs without a grade. */
  readonly errored: number
  /** Mean over groups of the standard deviation of their rewards. */
  readonly groupSpread: number
  /** Turns with tokens, and their output tokens. */
  readonly samples: number
  readonly tokens: number
  readonly rolloutMs: number
  /** The sum over tokens; null when nothing was trained on. */
  readonly loss: number | null
  readonly datums: number
  readonly chunks: number
  /** Milliseconds in which at least one training call was under way. */
  readonly trainMs: number
  /** The service's count of optimiser steps after this one; null when it was skipped. */
  readonly optimStep: number | null
  readonly end: StepEnd
  readonly groups: {
    readonly planned: number
    /** Groups whose rewards differ, and that were trained on. */
    readonly trained: number
    readonly withoutSpread: number
    /** Groups that dynamic sampling added in place of some without spread. */
    readonly added: number
    /** Left out for another reason, by that reason: short, stale, no tokens, or delivery unknown. */
    readonly dropped: Readonly<Record<string, number>>
  }
  readonly learningRate: number
  /** How many turns each version of the policy put out, by the name the server gives it. */
  readonly versions: Readonly<Record<string, number>>
  /** From the first rollout's start to the new weights being served. */
  readonly wallMs: number
  /** When `wallMs` began, in milliseconds since 1970; absent in journals of earlier versions. */
  readonly startedAt?: number
}

/** How a step ended: with an update of the model, or without one and why. */
export type StepEnd =
  | { readonly type: 'trained'; readonly checkpointId: string }
  | { readonly type: 'skipped'; readonly reason: 'no-spread' | 'no-groups' | 'nothing-accepted' }

/** A pass rate measured without training on what was rolled out. */
export interface EvaluationRecord {
  /** Steps of the training before it, skipped ones included; 0 is the base. */
  readonly afterSteps: number
  /** Which tasks: `held-out` or `unseen` for instance. */
  readonly split: string
  readonly runs: number
  readonly solved: number
  readonly passRate: number
  readonly errored: number
  readonly wallMs: number
  readonly versions: Readonly<Record<string, number>>
}
