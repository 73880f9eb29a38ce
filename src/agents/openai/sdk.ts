/** The one file that knows OpenAI's SDK. */
import type { OpenAI } from 'openai'
import { makeHearingFetch } from '../sdk/hearing-fetch.ts'

/** What a streamed response is made of, as the service sends it. */
export type ResponseEvent = OpenAI.Responses.ResponseStreamEvent
/** One thing that the model put out: words, a call, what it reasoned. */
export type OutputItem = OpenAI.Responses.ResponseOutputItem
/** One thing of a conversation, as the service is sent it. */
export type InputItem = OpenAI.Responses.ResponseInputItem
export type OpenAiTool = OpenAI.Responses.Tool
export type ResponseRequest = OpenAI.Responses.ResponseCreateParamsStreaming
export type ShellCall = OpenAI.Responses.ResponseFunctionShellToolCall
export type ShellOutput = OpenAI.Responses.ResponseFunctionShellCallOutputContent

/** Sends one conversation and gives what comes next, event by event. */
export interface OpenAiClient {
  /** `heard` is called whenever anything of the reply comes in. */
  stream(
    request: ResponseRequest,
    signal: AbortSignal,
    heard: () => void,
    headers?: Readonly<Record<string, string>>,
  ): Promise<AsyncIterable<ResponseEvent>>
}

/** Loads the SDK. Its own retries and log are off; it reads no key by itself. */
export async function makeOpenAiClient(place: {
  readonly baseUrl: string
  readonly key: string | undefined
}): Promise<OpenAiClient> {
  const sdk = await import('openai')
  const client = new sdk.OpenAI({
    baseURL: place.baseUrl,
    // It insists on one, where none is asked for too.
    apiKey: place.key ?? 'none',
    maxRetries: 0,
    timeout: ANSWER_MS,
    logLevel: 'off',
  })
  return {
    stream: (request, signal, heard, headers = {}) =>
      client.withOptions({ fetch: makeHearingFetch(heard) }).responses.create(request, { signal, headers }),
  }
}

/** One that takes longer than this is not coming; the phase's deadline is the other bound. */
const ANSWER_MS = 10 * 60_000
