import { nameTrainer, QUICK_SHAPE, TRAINING_DEFAULTS, TRAINING_SHAPE } from '../training/defaults.ts'
import type { LossName, OptimStepOptions } from '../training/trainer.ts'
import type { TrainArguments } from './commands/train.ts'
import { chunkNotWhole, conflictingOptions, missingOption } from './errors.ts'

/** What is trained and how, with every default filled in. */
export interface TrainingSettings {
  readonly steps: number
  readonly group: number
  readonly chunk: number
  readonly chunkBytes: number
  readonly learningRate: number
  readonly loss: LossName
  readonly lossConfig: Readonly<Record<string, number>>
  readonly substeps: number
  readonly adam: Omit<OptimStepOptions, 'learningRate'>
  readonly maxPolicyLag: number
  readonly dynamicSampling: number
  readonly order: 'planned' | 'completion'
  /** Absent: nothing is measured but the training itself. */
  readonly evaluation: { readonly group: number; readonly every: number | null } | undefined
}

/** Pure. Throws what contradicts itself or is missing, before anything is loaded. */
export function toTrainingSettings(options: TrainArguments): TrainingSettings {
  refuseConflicts(options)
  const shape = options.quick === true ? QUICK_SHAPE : TRAINING_SHAPE
  const defaults = TRAINING_DEFAULTS[nameTrainer(options.trainer)]
  const group = options.group ?? shape.group
  const chunk = options.chunk ?? Math.max(group, Math.floor(shape.chunk / group) * group)
  if (chunk % group !== 0) throw chunkNotWhole(chunk, group)
  return {
    steps: options.steps ?? shape.steps,
    group,
    chunk,
    chunkBytes: options.chunkBytes,
    learningRate: options.learningRate ?? defaults.learningRate,
    loss: options.loss ?? defaults.loss,
    // Another loss has other settings: those of the default are not its.
    lossConfig: options.lossConfig ?? (options.loss === undefined ? defaults.lossConfig : {}),
    substeps: options.substeps ?? defaults.substeps,
    adam: defaults.adam,
    maxPolicyLag: options.maxPolicyLag,
    dynamicSampling: options.dynamicSampling,
    order: options.order,
    evaluation: options.eval
      ? { group: options.evalGroup ?? shape.evaluationGroup, every: options.evalEvery ?? null }
      : undefined,
  }
}

function refuseConflicts(options: TrainArguments): void {
  if (options.trainer === 'hud' && options.model === undefined)
    throw missingOption('--model', 'the training service needs to know which model')
  if (nameTrainer(options.trainer) !== 'embedded') {
    const trainer = `--trainer ${options.trainer}`
    if (options.base !== undefined) throw conflictingOptions('--base', trainer, 'it has its own models')
    if (options.samplers !== undefined)
      throw conflictingOptions('--samplers', trainer, 'they sample the embedded policy')
  }
  if (!options.eval) {
    for (const [option, value] of [
      ['--held-out', options.heldOut],
      ['--unseen', options.unseen],
      ['--eval-every', options.evalEvery],
      ['--eval-group', options.evalGroup],
    ] as const)
      if (value !== undefined) throw conflictingOptions('--no-eval', option, 'leave one of them out')
  }
}
