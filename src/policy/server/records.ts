/** What the store's index holds. The schemas are its parser: an index of another version, or half of one, is refused. */
import { z } from 'zod'
import { LOSS_NAMES } from './loss-plan.ts'

const count = z.number().int().min(0)

const tally = z.object({
  traces: count,
  rewards: z.number(),
  groups: count,
  spreads: z.number(),
  datums: count,
  tokens: count,
  loss: z.number(),
  compared: count,
  kl: z.number(),
  clipped: z.number(),
})

const lossName = z.enum([...LOSS_NAMES, 'custom'])
const figures = z.record(z.string(), z.number())

const checkpoint = z.object({
  id: z.string(),
  /** The checkpoint it was trained from; null for the model's base. */
  parent: z.string().nullable(),
  createdAt: z.number(),
  /** Optim-steps from the base to here. */
  step: count,
  tally,
  lossName: lossName.nullable(),
  learningRate: z.number(),
  /** Figures that came with `backward` calls. */
  figures,
  /** Ids of the calls that went into it, as their clients gave them. */
  callIds: z.array(z.string()),
  /** The blob with its state; null once that was forgotten. */
  blob: z.string().nullable(),
})

const accumulated = z.object({
  calls: count,
  callIds: z.array(z.string()),
  tally,
  lossName: lossName.nullable(),
  figures,
  /** How the data are learned from at the optim-step; null where their gradient is summed already. */
  later: z
    .object({
      numSubsteps: z.number().int().min(1),
      epochs: z.number().int().min(1),
      loss: z.discriminatedUnion('name', [
        z.object({ name: z.enum(['cross_entropy', 'importance_sampling']) }),
        z.object({ name: z.enum(['ppo', 'cispo']), low: z.number(), high: z.number() }),
        z.object({ name: z.literal('dro'), beta: z.number() }),
      ]),
    })
    .nullable(),
  /** The blob with the gradient's sum; null while there is none. */
  gradient: z.string().nullable(),
  /** Blobs with the data of a call each. */
  kept: z.array(z.string()),
})

const model = z.object({
  id: z.string(),
  /** The slug: unique in the store. */
  name: z.string(),
  createdAt: z.number(),
  /** Where it was forked from; null for the base's own model. */
  origin: z.object({ model: z.string(), checkpoint: z.string().nullable() }).nullable(),
  /** The checkpoint that is served; null for the base. */
  head: z.string().nullable(),
  checkpoints: z.array(checkpoint),
  accumulated: accumulated.nullable(),
})

export const indexSchema = z.object({
  version: z.literal(1),
  tokenizer: z.string(),
  /** SHA-256 over the base's weights. */
  base: z.string(),
  models: z.array(model),
})

export type StoreIndex = z.output<typeof indexSchema>
export type ModelRecord = StoreIndex['models'][number]
export type CheckpointRecord = ModelRecord['checkpoints'][number]
export type AccumulatedRecord = NonNullable<ModelRecord['accumulated']>
export type LaterPlan = NonNullable<AccumulatedRecord['later']>
