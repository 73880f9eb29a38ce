/** Bodies of the training service's calls. Arrays of numbers become typed arrays at once: they are most of a body. */
import { z } from 'zod'

/** `optional` fields may be null too: some clients write nulls for what they leave out. */
const sample = z.strictObject({
  prompt_token_ids: numbers(toIds).nullish(),
  prompt_chunks: z.unknown().optional(),
  output_token_ids: numbers(toIds),
  output_logprobs: numbers(toFloats).nullish(),
})

const trajectory = z.strictObject({
  samples: z.array(sample).min(1, 'a trajectory needs at least one sample'),
  reward: z.number(),
  trace_id: z.string().nullish(),
})

const input = z
  .custom<unknown>(value => typeof value !== 'string', {
    error: 'this server has no traces to look an id up in; send the samples and the reward themselves',
  })
  .pipe(trajectory)

const inputs = z.array(input).min(1, 'at least one trajectory is needed')
const groupSize = z.number().int().min(1).nullish()
const rewardScale = z.number().default(1)

export const forwardBackwardBody = z.strictObject({
  inputs,
  loss_fn: z.string().default('importance_sampling'),
  loss_fn_config: z.record(z.string(), z.number()).nullish(),
  group_size: groupSize,
  reward_scale: rewardScale,
  num_substeps: z.number().int().min(1).max(16).default(1),
})

export const forwardBody = z.strictObject({ inputs, group_size: groupSize, reward_scale: rewardScale })

export const backwardBody = z.strictObject({
  forward_id: z.string(),
  weights: z.array(numbers(toFloats)),
  metrics: z.record(z.string(), z.number()).default({}),
})

const share = z.number().min(0).lt(1)

export const optimStepBody = z.strictObject({
  learning_rate: z.number().gt(0, 'a learning rate is above 0'),
  beta1: share.default(0.9),
  beta2: share.default(0.95),
  eps: z.number().gt(0).default(1e-8),
  weight_decay: z.number().min(0).default(0),
})

export type InputBody = z.output<typeof trajectory>

/** Zod's own arrays cost an object for each number; batches have millions. */
function numbers<Values>(convert: (values: readonly unknown[]) => Values | string) {
  return z.custom<readonly unknown[]>(Array.isArray, 'a list of numbers is needed').transform((values, context) => {
    const converted = convert(values)
    if (typeof converted !== 'string') return converted
    context.addIssue({ code: 'custom', message: converted })
    return z.NEVER
  })
}

function toIds(values: readonly unknown[]): Uint32Array | string {
  const ids = new Uint32Array(values.length)
  for (const [place, value] of values.entries()) {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
      return `the ${place}th is no token id: ${JSON.stringify(value)}`
    ids[place] = value
  }
  return ids
}

function toFloats(values: readonly unknown[]): Float32Array | string {
  const floats = new Float32Array(values.length)
  for (const [place, value] of values.entries()) {
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value)))
      return `the ${place}th is no finite number: ${JSON.stringify(value)}`
    floats[place] = value
  }
  return floats
}
