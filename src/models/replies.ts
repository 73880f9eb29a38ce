import { z } from 'zod'
import type { Checkpoint } from '../training/trainer.ts'

/** One model of the catalogue. */
export interface CatalogModel {
  readonly id: string
  /** For people; the slug where it has none. */
  readonly name: string
  /** What an inference call and a training client name it by. */
  readonly slug: string
  readonly provider: string | null
  /** The kind of agent that the platform suggests. */
  readonly agentType: string | null
  readonly isTrainable: boolean
}

/** Nulls and figures that are not there are the same: services of several versions leave out what they do not know. */
const optionalText = z.string().nullish()
const optionalNumber = z.number().nullish()

export const modelReply = z
  .object({
    id: z.string(),
    name: optionalText,
    model_name: z.string(),
    provider: z.object({ name: optionalText }).nullish(),
    sdk_agent_type: optionalText,
    is_trainable: z.boolean().nullish(),
  })
  .transform(
    (model): CatalogModel => ({
      id: model.id,
      name: model.name ?? model.model_name,
      slug: model.model_name,
      provider: model.provider?.name ?? null,
      agentType: model.sdk_agent_type ?? null,
      isTrainable: model.is_trainable ?? false,
    }),
  )

export const modelsReply = z.object({ items: z.array(modelReply), total: z.number() })

/** Of a call that answers nothing one could want. */
export const anyReply = z.unknown()

export const resolvedReply = z.object({ id: z.string() })

/** JSON has no NaN: a service that computed one says null. */
export const metricsReply = z
  .record(z.string(), z.number().nullable())
  .transform(metrics => Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, value ?? Number.NaN])))

/** A node's metrics may hold more than figures; those are left out. */
const figures = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform(metrics =>
    Object.fromEntries(
      Object.entries(metrics ?? {}).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
    ),
  )

export const checkpointsReply = z.array(
  z
    .object({
      id: z.string(),
      name: optionalText,
      checkpoint_name: optionalText,
      prev_model_checkpoint_id: optionalText,
      is_active: z.boolean().nullish(),
      created_at: optionalText,
      num_datums: optionalNumber,
      num_tokens: optionalNumber,
      mean_reward: optionalNumber,
      learning_rate: optionalNumber,
      loss_fn: optionalText,
      metrics: figures,
    })
    .transform(
      (node): Checkpoint => ({
        id: node.id,
        name: node.name ?? node.checkpoint_name ?? null,
        parentId: node.prev_model_checkpoint_id ?? null,
        isActive: node.is_active ?? false,
        createdAt: node.created_at ?? null,
        numDatums: node.num_datums ?? null,
        numTokens: node.num_tokens ?? null,
        meanReward: node.mean_reward ?? null,
        learningRate: node.learning_rate ?? null,
        lossFn: node.loss_fn ?? null,
        metrics: node.metrics,
      }),
    ),
)
