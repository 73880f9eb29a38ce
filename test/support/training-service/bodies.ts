import { z } from 'zod'
import { refuse } from './wire-refusal.ts'

/** The service's requests, as strict as it is: no field it does not know, no null for what may be left out. */
const ids = z.array(z.int().min(0))
const sample = z.strictObject({
  prompt_token_ids: ids.optional(),
  prompt_chunks: z.array(z.unknown()).optional(),
  output_token_ids: ids,
  output_logprobs: z.array(z.number()).default([]),
})
const payload = z.strictObject({
  samples: z.array(sample).min(1),
  reward: z.number(),
  trace_id: z.string().optional(),
})
const inputs = z.array(z.union([z.string(), payload])).min(1)
const groupSize = z.int().min(1).optional()

export const forwardBackwardBody = z.strictObject({
  inputs,
  loss_fn: z.string().default('importance_sampling'),
  loss_fn_config: z.record(z.string(), z.number()).optional(),
  group_size: groupSize,
  reward_scale: z.number().default(1),
  num_substeps: z.int().min(1).default(1),
})

export const forwardBody = z.strictObject({ inputs, group_size: groupSize, reward_scale: z.number().default(1) })

export const backwardBody = z.strictObject({
  forward_id: z.string(),
  weights: z.array(z.array(z.number())),
  metrics: z.record(z.string(), z.number()).default({}),
})

export const optimStepBody = z.strictObject({
  learning_rate: z.number().gt(0),
  beta1: z.number(),
  beta2: z.number(),
  eps: z.number(),
  weight_decay: z.number().min(0),
})

export const headBody = z.strictObject({ checkpoint_id: z.string() })

export type Inputs = z.output<typeof inputs>
export type Sample = z.output<typeof sample>

/** 422 with what is wrong, as the service answers. */
export function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  return parsed.success ? parsed.data : refuse(422, z.prettifyError(parsed.error))
}
