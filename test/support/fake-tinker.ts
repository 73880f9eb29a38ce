import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { type Clock, systemClock } from '../../src/clock.ts'

/**
 * Tinker's HTTP API as its public client speaks it (thinking-machines-lab/tinker, src/tinker/types): routes, fields, futures, and their strictness,
 * without a model behind them. A field that is not known is refused, as pydantic's strict models do.
 */
export interface FakeTinker {
  readonly url: string
  readonly key: string
  /** Every post in order, without those that ask for futures. */
  readonly posts: readonly { readonly route: string; readonly body: Record<string, unknown> }[]
  /** How often futures were asked for. */
  readonly asked: () => number
  /** The next post to `route` meets it; or the one after `spared` others. */
  failNext(route: string, how: TinkerFault, spared?: number): void
  readonly heartbeats: () => number
  close(): Promise<void>
}

/** `hang-up`: acted on, and never answered. `refuse`: not acted on. The errors are those of a future. */
export type TinkerFault = 'hang-up' | 'refuse' | 'user-error' | 'server-error'

const tensor = (dtype: 'int64' | 'float32') =>
  z.strictObject({ data: z.array(z.number()), dtype: z.literal(dtype), shape: z.tuple([z.int()]) })

const tokens = z.array(z.int().min(0)).min(1)
const modelInput = z.strictObject({
  chunks: z.array(z.strictObject({ type: z.literal('encoded_text'), tokens })).min(1),
})

const datum = z
  .strictObject({
    model_input: modelInput,
    loss_fn_inputs: z.strictObject({
      target_tokens: tensor('int64'),
      logprobs: tensor('float32'),
      advantages: tensor('float32'),
    }),
  })
  .refine(({ model_input, loss_fn_inputs }) => {
    const length = model_input.chunks.flatMap(chunk => chunk.tokens).length
    return Object.values(loss_fn_inputs).every(({ data, shape }) => data.length === length && shape[0] === length)
  }, 'tensors are as long as the input')

const ofModel = { model_id: z.string(), seq_id: z.int().min(1) }

const BODIES: Readonly<Record<string, z.ZodType>> = {
  create_session: z.strictObject({ tags: z.array(z.string()), user_metadata: z.null(), sdk_version: z.string() }),
  session_heartbeat: z.strictObject({ session_id: z.literal('session-1') }),
  create_model: z.strictObject({
    session_id: z.literal('session-1'),
    model_seq_id: z.int(),
    base_model: z.string(),
    lora_config: z.strictObject({ rank: z.int().min(1) }),
  }),
  forward_backward: z.strictObject({
    ...ofModel,
    forward_backward_input: z.strictObject({
      data: z.array(datum).min(1).max(128),
      loss_fn: z.enum(['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro']),
      loss_fn_config: z.record(z.string(), z.number()).optional(),
    }),
  }),
  optim_step: z.strictObject({
    ...ofModel,
    adam_params: z.strictObject({
      learning_rate: z.number().min(0),
      beta1: z.number().optional(),
      beta2: z.number().optional(),
      eps: z.number().optional(),
      weight_decay: z.number().optional(),
    }),
  }),
  save_weights: z.strictObject({ ...ofModel, path: z.string() }),
  save_weights_for_sampler: z.strictObject({ ...ofModel, path: z.string() }),
  load_weights: z.strictObject({ ...ofModel, path: z.string(), optimizer: z.boolean() }),
  asample: z.strictObject({
    prompt: modelInput,
    num_samples: z.int().min(1),
    sampling_params: z.strictObject({
      max_tokens: z.int(),
      temperature: z.number(),
      seed: z.int().optional(),
    }),
    model_path: z.string().optional(),
    base_model: z.string().optional(),
  }),
  retrieve_future: z.strictObject({ request_id: z.string() }),
}

/** Does not wait between two questions for a future. Deadlines and heartbeats are what they are. */
export const hastyClock: Clock = {
  ...systemClock,
  after: (delayMs, wake) => systemClock.after(delayMs < 10_000 ? 0 : delayMs, wake),
}

interface Future {
  readonly result: unknown
  /** It is not there before it was asked for so often. */
  left: number
}

export async function startFakeTinker(): Promise<FakeTinker> {
  const key = 'tml-test'
  const posts: { route: string; body: Record<string, unknown> }[] = []
  const faults = new Map<string, { readonly how: TinkerFault; spared: number }>()
  const futures = new Map<string, Future>()
  const saved = new Set<string>()
  let [sequence, accumulated, asked, heartbeats, models] = [0, 0, 0, 0, 0]

  function act(route: string, body: Record<string, unknown>): unknown {
    switch (route) {
      case 'create_model':
        models += 1
        sequence = 0
        accumulated = 0
        return { model_id: `model-${models}` }
      case 'forward_backward': {
        accumulated += 1
        const { data } = body.forward_backward_input as {
          data: { loss_fn_inputs: { advantages: { data: number[] } } }[]
        }
        const loss = data.flatMap(each => each.loss_fn_inputs.advantages.data).reduce((sum, each) => sum - each, 0)
        return {
          loss_fn_output_type: 'TorchLossReturn',
          loss_fn_outputs: data.map(() => ({})),
          metrics: { 'loss:sum': loss },
        }
      }
      case 'optim_step':
        if (accumulated === 0) return { error: 'nothing was accumulated', category: 'user' }
        accumulated = 0
        return { metrics: null }
      case 'load_weights':
        if (!saved.has(String(body.path))) return { error: `there is no ${body.path}`, category: 'user' }
        return { path: body.path }
      case 'asample':
        return { sequences: [{ tokens: [7, 8], logprobs: [-0.5, -1], stop_reason: 'length' }] }
      default: {
        const kind = route === 'save_weights' ? 'weights' : 'sampler_weights'
        const path = `tinker://${body.model_id}/${kind}/${body.path}`
        saved.add(path)
        return { path }
      }
    }
  }

  function takeFault(route: string): TinkerFault | undefined {
    const fault = faults.get(route)
    if (fault === undefined) return undefined
    fault.spared -= 1
    if (fault.spared >= 0) return undefined
    faults.delete(route)
    return fault.how
  }

  function answer(
    route: string,
    body: Record<string, unknown>,
    fault: TinkerFault | undefined,
  ): { status: number; reply: unknown } {
    if (route === 'create_session') return { status: 200, reply: { type: route, session_id: 'session-1' } }
    if (route === 'session_heartbeat') {
      heartbeats += 1
      return { status: 200, reply: { type: route } }
    }
    if (route === 'retrieve_future') {
      asked += 1
      const future = futures.get(String(body.request_id))
      if (future === undefined) return { status: 404, reply: { detail: 'Future not found' } }
      future.left -= 1
      // Both ways in which the service says that it is not done yet.
      if (future.left === 1) return { status: 408, reply: { queue_state: 'active' } }
      if (future.left === 0)
        return { status: 200, reply: { type: 'try_again', request_id: body.request_id, queue_state: 'active' } }
      return { status: 200, reply: future.result }
    }
    if (typeof body.seq_id === 'number') {
      if (body.seq_id !== sequence + 1)
        return { status: 409, reply: { detail: `seq_id ${body.seq_id} after ${sequence}` } }
      sequence += 1
    }
    const id = `request-${posts.length}`
    const failure = { error: 'told to fail', category: fault === 'user-error' ? 'user' : 'server' }
    const isFailing = fault === 'user-error' || fault === 'server-error'
    futures.set(id, { result: isFailing ? failure : act(route, body), left: 2 })
    return { status: 200, reply: { future_id: id, status: 'pending', request_id: id } }
  }

  const server = createServer(async (request: IncomingMessage, response) => {
    const route = (request.url ?? '').replace('/base/api/v1/', '')
    const refuse = (status: number, detail: unknown) => void response.writeHead(status).end(JSON.stringify({ detail }))
    const body: unknown = await json(request)
    if (request.headers['x-api-key'] !== key || request.headers.authorization !== undefined)
      return refuse(401, 'no key')
    const parsed = BODIES[route]?.safeParse(body)
    if (parsed === undefined) return refuse(404, `no route ${route}`)
    if (!parsed.success) return refuse(422, parsed.error.issues)
    const given = parsed.data as Record<string, unknown>
    const fault = takeFault(route)
    if (fault === 'refuse') return refuse(429, 'too many')
    if (route !== 'retrieve_future' && route !== 'session_heartbeat') posts.push({ route, body: given })
    const { status, reply } = answer(route, given, fault)
    if (fault === 'hang-up') return void request.socket.destroy()
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/base`,
    key,
    posts,
    asked: () => asked,
    heartbeats: () => heartbeats,
    failNext: (route, how, spared = 0) => void faults.set(route, { how, spared }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
