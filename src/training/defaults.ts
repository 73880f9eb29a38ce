import type { LossName, OptimStepOptions } from './trainer.ts'

/** Which trainer: the embedded one, HUD's service, or one of the user's own, which is named by its module. */
export type TrainerName = 'embedded' | 'hud' | 'own'

/** `text` is `embedded`, `hud`, or a module. */
export function nameTrainer(text: string): TrainerName {
  return text === 'embedded' || text === 'hud' ? text : 'own'
}

/** What a training does unless told otherwise. */
export interface TrainingDefaults {
  readonly learningRate: number
  readonly loss: LossName
  readonly lossConfig: Readonly<Record<string, number>>
  /** Optimiser steps of a service within one `forward_backward`. */
  readonly substeps: number
  /** What is not here has the service's own default. */
  readonly adam: Omit<OptimStepOptions, 'learningRate'>
}

/**
 * The one place of settings that depend on the model that is trained: a small transformer from scratch wants another learning
 * rate than a language model with billions of parameters. HUD's are those of the published run.
 */
export const TRAINING_DEFAULTS: Readonly<Record<TrainerName, TrainingDefaults>> = {
  embedded: {
    learningRate: 7e-4,
    loss: 'importance_sampling',
    lossConfig: {},
    substeps: 1,
    adam: { beta2: 0.99 },
  },
  hud: { learningRate: 1e-5, loss: 'importance_sampling', lossConfig: {}, substeps: 1, adam: {} },
  own: { learningRate: 1e-5, loss: 'importance_sampling', lossConfig: {}, substeps: 1, adam: {} },
}

/** The shape of the published run. */
export const TRAINING_SHAPE = {
  steps: 10,
  group: 8,
  chunk: 16,
  chunkBytes: 8 * 1024 * 1024,
  evaluationGroup: 64,
} as const

/** The same in about a minute: enough to see rates rise, with wide intervals. */
export const QUICK_SHAPE = { ...TRAINING_SHAPE, steps: 4, group: 4, chunk: 8, evaluationGroup: 8 } as const
