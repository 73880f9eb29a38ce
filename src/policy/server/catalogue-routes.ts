import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { toMetrics } from './metrics.ts'
import { parseBody } from './parse-body.ts'
import type { CheckpointRecord, ModelRecord } from './records.ts'
import type { Service } from './service.ts'
import { stepOf } from './training-session.ts'

const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'a name is 1 to 64 letters, digits, dots, dashes and underscores')
const forkBody = z.object({ name: slug, checkpoint_id: z.string().nullish() })
const forkByIdBody = forkBody.extend({ source_model_id: z.string() })
const headBody = z.object({ checkpoint_id: z.string() })
const page = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  offset: z.coerce.number().int().min(0).default(0),
})
const resolveQuery = z.object({ model: z.string() })

/** What the head is called when it is the model's base. */
const BASE = 'base'

type Params = { Params: { id: string } }

/** Models, their trees of checkpoints, and which of them is served. */
export function addCatalogueRoutes(app: FastifyInstance, { store, models }: Service): void {
  app.get('/v2/models', async request => {
    const { limit, offset } = parseBody(page, request.query)
    const all = store.models()
    return { items: all.slice(offset, offset + limit).map(toModel), total: all.length }
  })

  app.get('/v2/models/resolve', async request =>
    toModel(store.find(withoutProvider(parseBody(resolveQuery, request.query).model))),
  )

  app.get<Params>('/v2/models/:id', async request => toModel(store.find(request.params.id)))

  app.post<Params>('/v2/models/:id/fork', async (request, reply) => {
    const made = await fork(request.params.id, parseBody(forkBody, request.body))
    return await reply.code(201).send(made)
  })

  app.post('/v2/models/fork', async (request, reply) => {
    const { source_model_id: source, ...body } = parseBody(forkByIdBody, request.body)
    return await reply.code(201).send(await fork(source, body))
  })

  app.get<Params>('/v2/models/:id/checkpoints', async request => {
    const model = store.find(request.params.id)
    return model.checkpoints.map(checkpoint => toCheckpoint(checkpoint, model))
  })

  app.put<Params>('/v2/models/:id/head', async request => {
    const { id, name } = store.find(request.params.id)
    const { checkpoint_id: checkpoint } = parseBody(headBody, request.body)
    const dropped = await models.use(id, model => model.setHead(checkpoint === BASE ? null : checkpoint))
    return { model: name, checkpoint_id: checkpoint, dropped }
  })

  async function fork(source: string, { name, checkpoint_id: checkpoint }: z.output<typeof forkBody>) {
    const { id, head } = store.find(source)
    return toModel(await store.fork(id, name, checkpoint === BASE ? null : (checkpoint ?? head)))
  }
}

/** Slugs of a gateway carry their provider in front. */
function withoutProvider(model: string): string {
  return model.replace(/^troupe\//, '')
}

function toModel(model: ModelRecord) {
  const { id, name, createdAt, head, origin } = model
  return {
    id,
    name,
    model_name: name,
    sdk_agent_type: 'openai_compatible',
    is_trainable: true,
    provider: { name: 'troupe' },
    created_at: new Date(createdAt).toISOString(),
    head_checkpoint_id: head,
    step: stepOf(model),
    source_model_id: origin?.model ?? null,
    source_checkpoint_id: origin?.checkpoint ?? null,
  }
}

function toCheckpoint(checkpoint: CheckpointRecord, { head }: ModelRecord) {
  const { id, parent, createdAt, step, tally, learningRate, lossName, figures } = checkpoint
  return {
    id,
    name: `step-${step}`,
    checkpoint_name: `step-${step}`,
    prev_model_checkpoint_id: parent,
    is_active: id === head,
    created_at: new Date(createdAt).toISOString(),
    num_traces: tally.traces,
    num_datums: tally.datums,
    num_tokens: tally.tokens,
    mean_reward: tally.traces === 0 ? null : tally.rewards / tally.traces,
    learning_rate: learningRate,
    loss_fn: lossName,
    metrics: { ...toMetrics(tally), ...figures },
  }
}
