/** The one file that knows Anthropic's SDK. */
import type { Anthropic } from '@anthropic-ai/sdk'
import { makeHearingFetch } from '../sdk/hearing-fetch.ts'

/** What a streamed message is made of, as the service sends it. */
export type MessageEvent = Anthropic.RawMessageStreamEvent
/** One message of a conversation, as the service is sent it. */
export type MessageParam = Anthropic.MessageParam
export type ContentParam = Anthropic.ContentBlockParam
export type ClaudeTool = Anthropic.ToolUnion
export type MessageRequest = Anthropic.MessageCreateParamsStreaming

/** Sends one conversation and gives its next message, event by event. */
export interface ClaudeClient {
  /** `heard` is called whenever anything of the reply comes in. */
  stream(
    request: MessageRequest,
    signal: AbortSignal,
    heard: () => void,
    headers?: Readonly<Record<string, string>>,
  ): Promise<AsyncIterable<MessageEvent>>
}

/** Loads the SDK. Its own retries and log are off; it reads no key by itself. */
export async function makeClaudeClient(place: {
  readonly baseUrl: string
  readonly key: string | undefined
}): Promise<ClaudeClient> {
  const sdk = await import('@anthropic-ai/sdk')
  const client = new sdk.Anthropic({
    baseURL: place.baseUrl,
    // It insists on one, where none is asked for too.
    apiKey: place.key ?? 'none',
    authToken: null,
    maxRetries: 0,
    timeout: ANSWER_MS,
    logLevel: 'off',
  })
  return {
    // Not by `messages.create`, which does the same and prints what it thinks of a model's age to this process's stderr.
    stream: (request, signal, heard, headers = {}) =>
      client
        .withOptions({ fetch: makeHearingFetch(heard) })
        .post<AsyncIterable<MessageEvent>>('/v1/messages', { body: request, stream: true, signal, headers }),
  }
}

/** One that takes longer than this is not coming; the phase's deadline is the other bound. */
const ANSWER_MS = 10 * 60_000
