import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toBatch } from './batch.ts'
import { LOSS_NAMES, parseLoss } from './loss-plan.ts'
import { parseBody } from './parse-body.ts'
import type { Service } from './service.ts'
import { backwardBody, forwardBackwardBody, forwardBody, optimStepBody } from './train-bodies.ts'

/** A call with this header is counted once: a second one of the same id is refused, and the state tells which were counted. */
export const CALL_HEADER = 'x-troupe-call'

type Params = { Params: { id: string } }

/**
 * The training service's surface. Everything in a body is checked before the call joins the queue.
 *
 * `num_substeps` n, with `epochs` e in `loss_fn_config` (default 1): above 1 · 1 the data are kept instead of their gradient, and the
 * optim-step makes n · e Adam updates over all that its calls kept: e passes, each in a seeded order of whole trajectories cut
 * into n minibatches, gradients under the weights of that moment, ratios against the log-probabilities they were sampled with.
 */
export function addTrainRoutes(app: FastifyInstance, { store, models, limits }: Service): void {
  app.post<Params>('/v1/models/:id/train/forward-backward', async request => {
    const { id } = store.find(request.params.id)
    const body = parseBody(forwardBackwardBody, request.body)
    const plan = parseLoss(body.loss_fn, body.loss_fn_config ?? {})
    const batch = toBatch(body, limits, plan.name !== 'cross_entropy')
    const call = { batch, plan, numSubsteps: body.num_substeps, callId: callIdOf(request) }
    return await models.use(id, model => model.forwardBackward(call))
  })

  app.post<Params>('/v1/models/:id/train/forward', async request => {
    const { id } = store.find(request.params.id)
    const body = parseBody(forwardBody, request.body)
    const batch = toBatch(body, limits, true)
    return await models.use(id, model => model.forward(batch, body.group_size != null))
  })

  app.post<Params>('/v1/models/:id/train/backward', async request => {
    const { id } = store.find(request.params.id)
    const { forward_id: forwardId, weights, metrics } = parseBody(backwardBody, request.body)
    return await models.use(id, model => model.backward({ forwardId, weights, metrics, callId: callIdOf(request) }))
  })

  app.post<Params>('/v1/models/:id/train/optim-step', async request => {
    const { id, name } = store.find(request.params.id)
    const body = parseBody(optimStepBody, request.body)
    const checkpoint = await models.use(id, model =>
      model.optimStep({
        learningRate: body.learning_rate,
        beta1: body.beta1,
        beta2: body.beta2,
        eps: body.eps,
        weightDecay: body.weight_decay,
      }),
    )
    return {
      step: checkpoint.step,
      checkpoint_id: checkpoint.id,
      sampler_path: `troupe://${name}/sampler/${checkpoint.id}`,
      state_path: `troupe://${name}/state/${checkpoint.id}`,
      model: name,
    }
  })

  app.get<Params>('/v1/models/:id/train/losses', async request => {
    store.find(request.params.id)
    return { losses: LOSS_NAMES }
  })

  app.get<Params>('/v1/models/:id/train/state', async request => {
    const { id } = store.find(request.params.id)
    return await models.use(id, model => model.state())
  })
}

function callIdOf({ headers }: FastifyRequest): string | undefined {
  const value = headers[CALL_HEADER]
  return typeof value === 'string' && value !== '' ? value : undefined
}
