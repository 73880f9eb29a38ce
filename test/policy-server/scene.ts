import { systemClock } from '../../src/clock.ts'
import type { IdSource } from '../../src/ids.ts'
import { makeMemoryBlobs } from '../../src/policy/server/blobs.ts'
import { openDirectoryBlobs } from '../../src/policy/server/directory-blobs.ts'
import type { PromptFormat } from '../../src/policy/server/prompt-format.ts'
import { type PolicyServer, type PolicyServerOptions, startPolicyServer } from '../../src/policy/server/server.ts'
import {
  CONTEXT,
  type FakeSampler,
  type FakeTrainer,
  makeUnigramSampler,
  makeUnigramTrainer,
  unigramBase,
  unigramCheckpoints,
  VOCABULARY,
} from './unigram.ts'

/** A token for each message, by its length; replies are letters, and one with token 1 in it calls the first tool. */
export const letters: PromptFormat = {
  stopToken: 0,
  toPrompt(messages, tools, continuation) {
    const later = messages.slice(continuation?.from ?? 0).map(({ content }) => (content?.length ?? 0) % VOCABULARY)
    return Uint32Array.from([...(continuation?.tokens ?? [tools.length]), ...later])
  },
  toReply(output, tools) {
    const content = Array.from(output, token => (token === 0 ? '' : letters.toText(token))).join('')
    const [tool] = tools
    if (tool === undefined || !output.includes(1)) return { content, calls: [] }
    return { content: '', calls: [{ name: tool.function.name, arguments: JSON.stringify({ text: content }) }] }
  },
  toText: token => (token === 0 ? '.' : String.fromCharCode(0x60 + token)),
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a reply's JSON, which each test looks into where it likes.
  readonly body: any
}

export interface Scene {
  readonly server: PolicyServer
  readonly samplers: FakeSampler[]
  readonly trainers: FakeTrainer[]
  get(path: string): Promise<Reply>
  post(
    path: string,
    body: unknown,
    options?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Reply>
  put(path: string, body: unknown): Promise<Reply>
  /** A training call of the base's model. */
  train(call: string, body: unknown, headers?: Record<string, string>): Promise<Reply>
  chat(body: Record<string, unknown>): Promise<Reply>
}

export type SceneOptions = Partial<PolicyServerOptions> & { readonly directory?: string }

/** A server over the unigram machines, on a port of its own, for as long as `body` runs. */
export async function withServer<Value>(options: SceneOptions, body: (scene: Scene) => Promise<Value>): Promise<Value> {
  const scene = await openServer(options)
  try {
    return await body(scene)
  } finally {
    await scene.server.close()
  }
}

/** The same for a test that closes it itself. */
export async function openServer(options: SceneOptions): Promise<Scene> {
  const { directory, ...rest } = options
  const samplers: FakeSampler[] = []
  const trainers: FakeTrainer[] = []
  const server = await startPolicyServer({
    base: unigramBase(),
    checkpoints: unigramCheckpoints,
    newName: 'unigram',
    tokenizer: 'letters',
    limits: { vocabulary: VOCABULARY, context: CONTEXT },
    format: letters,
    machines: {
      async startSampler() {
        const sampler = makeUnigramSampler()
        samplers.push(sampler)
        return sampler
      },
      async startTrainer() {
        const trainer = makeUnigramTrainer()
        trainers.push(trainer)
        return trainer
      },
    },
    blobs: directory === undefined ? makeMemoryBlobs() : await openDirectoryBlobs(directory, 0),
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    ids: countingIds(),
    randomSeed: () => 1,
    ...rest,
  })
  const call = async (method: string, path: string, payload?: unknown, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(server.url + path, {
      ...init,
      method,
      ...(payload === undefined
        ? {}
        : {
            body: typeof payload === 'string' ? payload : JSON.stringify(payload),
            headers: { 'content-type': 'application/json', ...init.headers },
          }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    server,
    samplers,
    trainers,
    get: path => call('GET', path),
    post: (path, payload, init) => call('POST', path, payload, init),
    put: (path, payload) => call('PUT', path, payload),
    train: (name, payload, headers = {}) =>
      call('POST', `/v1/models/${server.model}/train/${name}`, payload, { headers }),
    chat: payload =>
      call('POST', '/v1/chat/completions', {
        model: server.model,
        messages: [{ role: 'user', content: 'hi' }],
        ...payload,
      }),
  }
}

/** Ids that count up: two runs give the same. */
export function countingIds(): IdSource {
  let count = 0
  return {
    hex(bytes) {
      count += 1
      return count.toString(16).padStart(bytes * 2, '0')
    },
  }
}

/** A trajectory of one turn with these output tokens, as if sampled from the base. */
export function trajectory(reward: number, output: readonly number[] = [3, 0], logprob = -2) {
  return {
    samples: [{ prompt_token_ids: [1, 2], output_token_ids: output, output_logprobs: output.map(() => logprob) }],
    reward,
  }
}

/** A promise and what resolves it. */
export function makeLatch(): readonly [opened: Promise<void>, open: () => void] {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return [opened, open]
}
