import type { Clock } from '../../clock.ts'
import type { IdSource } from '../../ids.ts'
import type { ChatToolCall } from '../../models/chat.ts'
import type { SampleRequest, SampleResult } from '../policy.ts'
import type { Limits } from './batch.ts'
import type { ChatRequest } from './chat-body.ts'
import { badRequest, contextExceeded } from './errors.ts'
import type { PromptFormat } from './prompt-format.ts'

/** A reply of OpenAI's chat completions, with the token fields of servers that train. */
export interface ChatCompletion {
  readonly id: string
  readonly object: 'chat.completion'
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  /** The version of the policy that put it out: a checkpoint's id, or `base`. */
  readonly system_fingerprint: string
  readonly choices: readonly [
    {
      readonly index: 0
      readonly message: {
        readonly role: 'assistant'
        readonly content: string | null
        readonly refusal: null
        readonly tool_calls?: readonly ChatToolCall[]
      }
      readonly finish_reason: 'stop' | 'tool_calls' | 'length'
      /** Natural logarithms at temperature 1, whatever the request's. */
      readonly logprobs: { readonly content: readonly TokenLogprob[] } | null
      readonly prompt_token_ids?: readonly number[]
      /** The output, with the token that ended it. */
      readonly token_ids?: readonly number[]
    },
  ]
  readonly usage: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly total_tokens: number
  }
}

interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: null
  readonly top_logprobs: readonly []
}

/** Throws `bad-request` for tokens of another vocabulary, or `context-length-exceeded`. */
export function toSampleRequest(
  { messages, tools, continuation, maxTokens, temperature, seed }: ChatRequest,
  format: PromptFormat,
  { vocabulary, context }: Limits,
  randomSeed: () => number,
): SampleRequest {
  const stranger = continuation?.tokens.find(id => id >= vocabulary)
  if (stranger !== undefined)
    throw badRequest('prompt_token_ids', `token id ${stranger} is out of the vocabulary of ${vocabulary}`)
  const prompt = format.toPrompt(messages, tools, continuation)
  if (prompt.length >= context) throw contextExceeded(prompt.length, context)
  const room = context - prompt.length
  return {
    prompt,
    maxTokens: Math.min(maxTokens ?? room, room),
    temperature,
    seed: seed ?? randomSeed(),
    stopToken: format.stopToken,
  }
}

export function toCompletion(
  request: ChatRequest,
  { prompt }: SampleRequest,
  { output, logprobs, finish, version }: SampleResult,
  { format, ids, clock }: { readonly format: PromptFormat; readonly ids: IdSource; readonly clock: Clock },
): ChatCompletion {
  const { content, calls } = format.toReply(output, request.tools)
  const toolCalls = calls.map(call => ({ id: `call_${ids.hex(12)}`, type: 'function', function: call }) as const)
  const hasCalls = toolCalls.length > 0
  return {
    id: `chatcmpl-${ids.hex(12)}`,
    object: 'chat.completion',
    created: Math.floor(clock.wallTime() / 1000),
    model: request.model,
    system_fingerprint: version,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && hasCalls ? null : content,
          refusal: null,
          ...(hasCalls ? { tool_calls: toolCalls } : {}),
        },
        finish_reason: finish === 'length' ? 'length' : hasCalls ? 'tool_calls' : 'stop',
        logprobs: request.wantsLogprobs
          ? {
              content: Array.from(output, (token, place) => ({
                token: format.toText(token),
                logprob: logprobs[place] ?? 0,
                bytes: null,
                top_logprobs: [],
              })),
            }
          : null,
        ...(request.wantsTokenIds ? { prompt_token_ids: [...prompt], token_ids: [...output] } : {}),
      },
    ],
    usage: {
      prompt_tokens: prompt.length,
      completion_tokens: output.length,
      total_tokens: prompt.length + output.length,
    },
  }
}
