import { createServer } from 'node:http'

/** A service with one trainable model, that adds numbers: right for some seeds, and for more of them after each optimiser step. */
export interface FakeService {
  readonly url: string
  /** What was asked, as `METHOD path`. */
  readonly calls: readonly string[]
  /** Bodies of `forward-backward`. */
  readonly batches: readonly { readonly inputs: readonly unknown[]; readonly group_size: number }[]
  /** Leaves `token_ids` out of its completions. */
  withoutTokens: boolean
  /** Calls that it fails at, with nothing done. */
  failsAt: (call: string) => boolean
  reset(): void
  close(): Promise<void>
}

const MODEL_ID = '00000000-0000-0000-0000-00000000000a'

export async function startFakeService(): Promise<FakeService> {
  const calls: string[] = []
  const batches: FakeService['batches'][number][] = []
  let checkpoints: string[] = []

  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const call = `${request.method} ${request.url}`
      calls.push(call)
      const fails = service.failsAt(call)
      const reply = fails ? {} : answer(call, body === '' ? {} : JSON.parse(body))
      const found = reply === undefined ? 404 : 200
      response.writeHead(fails ? 500 : found, { 'content-type': 'application/json' })
      response.end(JSON.stringify(reply ?? { detail: 'there is none' }))
    })
  })

  function answer(call: string, body: Record<string, unknown>): unknown {
    if (call === 'GET /v2/models/resolve?model=adder') return { id: MODEL_ID }
    if (call.startsWith('GET /v2/models?'))
      return { items: [{ id: MODEL_ID, model_name: 'adder', is_trainable: true }], total: 1 }
    if (call === 'POST /v1/chat/completions') return complete(body)
    if (call === `GET /v2/models/${MODEL_ID}/checkpoints`)
      return checkpoints.map((id, place) => ({
        id,
        prev_model_checkpoint_id: checkpoints[place - 1] ?? null,
        is_active: place === checkpoints.length - 1,
      }))
    if (call === `POST /v1/models/${MODEL_ID}/train/forward-backward`) {
      const batch = { inputs: [...toList(body.inputs)], group_size: Number(body.group_size) }
      batches.push(batch)
      return { metrics: { 'loss:sum': -batch.inputs.length }, num_datums: batch.inputs.length }
    }
    if (call !== `POST /v1/models/${MODEL_ID}/train/optim-step`) return undefined
    checkpoints = [...checkpoints, `ckpt-${checkpoints.length + 1}`]
    const id = checkpoints.at(-1)
    return { step: checkpoints.length, checkpoint_id: id, sampler_path: 's', state_path: 't', model: 'adder' }
  }

  function complete({ messages, seed }: Record<string, unknown>): unknown {
    const text = JSON.stringify(toList(messages)[0])
    const [, a = 0, b = 0] = /What is (\d+) \+ (\d+)/.exec(text) ?? []
    const isRight = Number(seed) % 4 <= checkpoints.length
    const content = String(Number(a) + Number(b) + (isRight ? 0 : 1))
    return {
      system_fingerprint: checkpoints.at(-1) ?? 'base',
      choices: [
        {
          message: { content },
          finish_reason: 'stop',
          prompt_token_ids: [1, 2, 3],
          ...(service.withoutTokens ? {} : { token_ids: [4, 5] }),
          logprobs: { content: [{ logprob: -0.5 }, { logprob: -0.25 }] },
        },
      ],
    }
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const service: FakeService = {
    url: typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '',
    calls,
    batches,
    withoutTokens: false,
    failsAt: () => false,
    reset() {
      calls.length = 0
      batches.length = 0
      checkpoints = []
      service.withoutTokens = false
      service.failsAt = () => false
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
