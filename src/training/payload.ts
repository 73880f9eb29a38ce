import type { Run } from '../rollout/run.ts'
import type { TrainingInput } from './check-groups.ts'
import { checkTokens } from './check-tokens.ts'
import { badOption, noReward } from './errors.ts'
import type { ForwardBackwardOptions, OptimStepOptions } from './trainer.ts'

/** One turn as the service is sent it. */
export interface WireSample {
  readonly prompt_token_ids?: readonly number[]
  readonly output_token_ids: readonly number[]
  readonly output_logprobs: readonly number[]
}

/** A trace's id, or a run with its tokens. */
export type WireInput = string | { readonly samples: readonly WireSample[]; readonly reward: number }

/**
 * Runs as the service's `inputs`: a sample for each turn that put out tokens. The plain form of what the thread in `body` writes
 * without ever making these objects. Throws what `checkTokens` throws, and `no-reward`.
 */
export function toInputs(inputs: readonly TrainingInput[]): WireInput[] {
  return inputs.map(input => (typeof input === 'string' ? input : toInput(input)))
}

function toInput(run: Run): WireInput {
  if (run.reward === null) throw noReward(run.runId)
  const samples = checkTokens(run.runId, run.trajectory).map(({ prompt, output, logprobs }) => ({
    ...(prompt.length === 0 ? {} : { prompt_token_ids: [...prompt] }),
    output_token_ids: [...output],
    output_logprobs: [...logprobs],
  }))
  return { samples, reward: run.reward }
}

/** JSON before and after the elements of the one long array of a body. */
export interface Envelope {
  readonly head: string
  readonly tail: string
}

/** Options that were not given are left out, not null: an older service refuses what it does not know. Throws `bad-training-option`. */
export function forwardBackwardEnvelope(options: ForwardBackwardOptions): Envelope {
  const { lossFn = 'importance_sampling', lossFnConfig, groupSize, rewardScale = 1, numSubsteps = 1 } = options
  checkRewardScale(rewardScale)
  if (!Number.isInteger(numSubsteps) || numSubsteps < 1)
    throw badOption('numSubsteps', numSubsteps, 'a whole number from 1 up')
  for (const [name, value] of Object.entries(lossFnConfig ?? {}))
    if (!Number.isFinite(value)) throw badOption(`lossFnConfig.${name}`, value, 'a finite number')
  return inputsEnvelope({
    loss_fn: lossFn,
    ...(lossFnConfig === undefined ? {} : { loss_fn_config: lossFnConfig }),
    ...(groupSize === undefined ? {} : { group_size: groupSize }),
    reward_scale: rewardScale,
    num_substeps: numSubsteps,
  })
}

export function forwardEnvelope(options: { readonly groupSize?: number; readonly rewardScale?: number }): Envelope {
  const { groupSize, rewardScale = 1 } = options
  checkRewardScale(rewardScale)
  return inputsEnvelope({
    ...(groupSize === undefined ? {} : { group_size: groupSize }),
    reward_scale: rewardScale,
  })
}

export function backwardEnvelope(forwardId: string, metrics: Readonly<Record<string, number>>): Envelope {
  for (const [name, value] of Object.entries(metrics))
    if (!Number.isFinite(value)) throw badOption(`metrics.${name}`, value, 'a finite number')
  return {
    head: `{"forward_id":${JSON.stringify(forwardId)},"weights":[`,
    tail: `],"metrics":${JSON.stringify(metrics)}}`,
  }
}

/** Throws `bad-training-option` for a learning rate of 0 or below, and for what Adam cannot use. */
export function optimStepBody(options: OptimStepOptions): string {
  const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0 } = options
  if (!(learningRate > 0 && Number.isFinite(learningRate)))
    throw badOption('learningRate', learningRate, 'a number above 0, for instance 1e-5')
  for (const [name, value] of Object.entries({ beta1, beta2 }))
    if (!(value >= 0 && value < 1)) throw badOption(name, value, 'a number from 0 to below 1')
  if (!(eps > 0 && Number.isFinite(eps))) throw badOption('eps', eps, 'a number above 0')
  if (!(weightDecay >= 0 && Number.isFinite(weightDecay)))
    throw badOption('weightDecay', weightDecay, 'a number from 0 up')
  return JSON.stringify({ learning_rate: learningRate, beta1, beta2, eps, weight_decay: weightDecay })
}

function inputsEnvelope(rest: Readonly<Record<string, unknown>>): Envelope {
  return { head: '{"inputs":[', tail: `],${JSON.stringify(rest).slice(1)}` }
}

function checkRewardScale(rewardScale: number): void {
  if (!Number.isFinite(rewardScale)) throw badOption('rewardScale', rewardScale, 'a finite number')
}
