import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ChatMessage, ChatTool } from '../../src/models/chat.ts'

/** A request's body, the fields that tests look at; all of it in `raw`. */
export interface FakeRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  readonly seed?: number
  readonly logprobs?: boolean
  readonly return_token_ids?: boolean
  readonly prompt_token_ids?: readonly number[]
  readonly continuation_from?: number
  readonly raw: Readonly<Record<string, unknown>>
}

export interface FakeReply {
  readonly text?: string | null
  /** `arguments` given as text go out as they are. */
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown; readonly id?: string }[]
  readonly finish?: string
  readonly version?: string
  /** Output ids; three of the server's own by default, with a logprob each. */
  readonly ids?: readonly number[]
  readonly logprobs?: readonly number[]
  /** Token fields that the server fails to give. */
  readonly without?: readonly ('prompt_token_ids' | 'token_ids' | 'logprobs')[]
}

export type FakeFault =
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Cuts the connection in place of an answer. */
  | { readonly drop: true }
  /** Begins an answer, and then cuts the connection or says nothing more. */
  | { readonly partly: string; readonly end: 'cut' | 'silence' }
  /** Answers when the promise resolves. */
  | { readonly after: Promise<unknown>; readonly reply: FakeReply }

export type FakeStep = FakeReply | FakeFault
/** A list is answered in its order whoever asks; past its end the last one is repeated. */
export type FakeScript = readonly FakeStep[] | ((request: FakeRequest, index: number) => FakeStep)

export interface FakeChatServer {
  /** Up to and with `/v1`. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  /** Connections accepted so far, and requests under way at once at most. */
  readonly connections: number
  readonly widest: number
  script: FakeScript
  close(): Promise<void>
}

/** An OpenAI-compatible chat-completions server on loopback that says what it is told to. Close it. */
export async function startFakeChatServer(script: FakeScript): Promise<FakeChatServer> {
  const requests: FakeRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let underWay = 0
  let widest = 0

  const server = createServer(async (incoming, response) => {
    underWay += 1
    widest = Math.max(widest, underWay)
    response.once('close', () => {
      underWay -= 1
    })
    const raw = JSON.parse(await text(incoming))
    const request: FakeRequest = { path: incoming.url ?? '', headers: incoming.headers, ...raw, raw }
    const index = requests.push(request) - 1
    const step =
      typeof fake.script === 'function'
        ? fake.script(request, index)
        : fake.script[Math.min(index, fake.script.length - 1)]
    await answer(request, step ?? {}, index, response)
  })
  server.on('connection', socket => {
    connections += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const fake: FakeChatServer = {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    script,
    get connections() {
      return connections
    },
    get widest() {
      return widest
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return fake
}

async function answer(request: FakeRequest, step: FakeStep, index: number, response: ServerResponse): Promise<void> {
  if ('drop' in step) return void response.destroy()
  if ('partly' in step) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(step.partly, () => step.end === 'cut' && response.destroy())
    return
  }
  if ('status' in step) {
    response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers })
    return void response.end(step.body ?? JSON.stringify({ error: { message: `status ${step.status}` } }))
  }
  if ('after' in step) {
    await step.after
    return answer(request, step.reply, index, response)
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(completion(request, step, index)))
}

function completion(request: FakeRequest, reply: FakeReply, index: number): unknown {
  const { calls = [], without = [], ids = [10 + index, 20 + index, 30 + index] } = reply
  const logprobs = reply.logprobs ?? ids.map((_, place) => -0.5 - place)
  const gives = (field: NonNullable<FakeReply['without']>[number]) =>
    request.return_token_ids === true && !without.includes(field)
  return {
    id: `chatcmpl-${index}`,
    object: 'chat.completion',
    model: request.model,
    ...(reply.version === undefined ? {} : { system_fingerprint: reply.version }),
    choices: [
      {
        index: 0,
        finish_reason: reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((call, place) => ({
                  id: call.id ?? `call-${index}-${place}`,
                  type: 'function',
                  function: {
                    name: call.name,
                    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
                  },
                })),
              }),
        },
        ...(gives('prompt_token_ids') ? { prompt_token_ids: promptIds(request) } : {}),
        ...(gives('token_ids') ? { token_ids: ids } : {}),
        ...(gives('logprobs') && request.logprobs === true
          ? { logprobs: { content: logprobs.map(logprob => ({ token: 'x', logprob })) } }
          : {}),
      },
    ],
  }
}

/** One id a message: 1000 and its place; after a continuation's own ids, those of the messages it does not cover. */
function promptIds({ messages, prompt_token_ids: known = [], continuation_from: covered = 0 }: FakeRequest): number[] {
  return [...known, ...messages.slice(covered).map((_, place) => 1000 + covered + place)]
}
