import type { z } from 'zod'
import { toAdvantages } from '../../advantages.ts'
import type { Datum } from '../policy.ts'
import { badRequest } from './errors.ts'
import type { Trajectory } from './minibatches.ts'
import type { forwardBody, InputBody } from './train-bodies.ts'

/** What a model can be trained on. */
export interface Limits {
  readonly vocabulary: number
  readonly context: number
}

/** The inputs of one call, checked, each with its data; places are the caller's names for them. */
export interface Batch {
  readonly inputs: readonly { readonly reward: number; readonly data: readonly PlacedDatum[] }[]
  readonly groupSize: number
  readonly rewardScale: number
  /** False when some sample came without sampling log-probabilities, which count as 0 then. */
  readonly hasLogprobs: boolean
}

export type PlacedDatum = Omit<Datum, 'advantage'> & { readonly place: string }

/** Throws `bad-request` with the place of the first datum that cannot be trained on, or for a group size that does not divide. */
export function toBatch(body: z.output<typeof forwardBody>, limits: Limits, needsLogprobs: boolean): Batch {
  const { inputs, reward_scale: rewardScale } = body
  const groupSize = body.group_size ?? inputs.length
  if (inputs.length % groupSize !== 0)
    throw badRequest(
      'group_size',
      `${inputs.length} inputs do not divide into groups of ${groupSize}; advantages are taken within whole groups: send a short group in a call of its own, with its own group_size`,
    )
  return {
    inputs: inputs.map(({ reward, samples }, index) => ({
      reward,
      data: samples.map((sample, turn) => toDatum(sample, `inputs[${index}].samples[${turn}]`, limits, needsLogprobs)),
    })),
    groupSize,
    rewardScale,
    hasLogprobs: inputs.every(({ samples }) =>
      samples.every(sample => sample.output_logprobs?.length === sample.output_token_ids.length),
    ),
  }
}

export interface Weighed {
  readonly trajectories: readonly Trajectory[]
  /** What the caller calls each datum, in their order. */
  readonly places: readonly string[]
}

/**
 * The data with their advantages, by trajectory; without those that have none, and so no gradient. A trajectory's turns share its
 * advantage. With `cross_entropy` the reward itself, scaled, is the weight.
 */
export function weigh({ inputs, groupSize, rewardScale }: Batch, byReward: boolean): Weighed {
  const rewards = inputs.map(({ reward }) => reward)
  const advantages = byReward
    ? rewards.map(reward => reward * rewardScale)
    : toAdvantages(rewards, groupSize, rewardScale)
  const weighed = inputs
    .map(({ data }, index) => ({ data, advantage: advantages[index] ?? 0 }))
    .filter(({ advantage }) => advantage !== 0)
  return {
    trajectories: weighed.map(({ data, advantage }) =>
      data.map(({ prompt, output, logprobs }) => ({ prompt, output, logprobs, advantage })),
    ),
    places: weighed.flatMap(({ data }) => data.map(({ place }) => place)),
  }
}

function toDatum(
  sample: InputBody['samples'][number],
  place: string,
  { vocabulary, context }: Limits,
  needsLogprobs: boolean,
): PlacedDatum {
  const { prompt_token_ids: prompt, output_token_ids: output, output_logprobs: logprobs } = sample
  if (sample.prompt_chunks !== undefined && sample.prompt_chunks !== null)
    throw badRequest(`${place}.prompt_chunks`, 'this model takes text alone; send prompt_token_ids')
  if (prompt === null || prompt === undefined || prompt.length === 0)
    throw badRequest(`${place}.prompt_token_ids`, 'a prompt of at least one token is needed')
  if (output.length === 0) throw badRequest(`${place}.output_token_ids`, 'there is no output to train on; leave it out')
  const count = logprobs?.length ?? 0
  if (count !== output.length && (needsLogprobs || count > 0))
    throw badRequest(place, `${output.length} output_token_ids and ${count} output_logprobs; each token needs its own`)
  for (const ids of [prompt, output])
    for (const id of ids)
      if (id >= vocabulary)
        throw badRequest(place, `token id ${id} is out of the vocabulary of ${vocabulary}: it is of another tokenizer`)
  const length = prompt.length + output.length
  if (length > context)
    throw badRequest(place, `${length} tokens of prompt and output, and the model's context is ${context}`)
  return {
    place,
    prompt,
    output,
    logprobs: logprobs?.length === output.length ? logprobs : new Float32Array(output.length),
  }
}
