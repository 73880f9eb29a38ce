import { z } from 'zod'
import type { ChatMessage, ChatTool } from '../../models/chat.ts'
import type { Continuation } from '../chat-format.ts'
import { badRequest, unsupported } from './errors.ts'
import { parseBody } from './parse-body.ts'

/** A chat completion as it was asked for, checked. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  /** None with `tool_choice` none. */
  readonly tools: readonly ChatTool[]
  readonly temperature: number
  readonly seed: number | undefined
  readonly maxTokens: number | undefined
  readonly wantsLogprobs: boolean
  readonly wantsTokenIds: boolean
  readonly continuation: Continuation | undefined
}

/** Some clients write text as a list of parts. */
const text = z
  .union(
    [z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))],
    'text is needed, as a string or as parts of type text',
  )
  .transform(content => (typeof content === 'string' ? content : content.map(part => part.text).join('')))

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'user']), content: text }),
  z.object({
    role: z.literal('assistant'),
    content: text.nullish().transform(content => content ?? null),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: text }),
])

const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().min(1),
    description: z.string().default(''),
    parameters: z.object({
      type: z.literal('object'),
      properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
      required: z.array(z.string()).default([]),
    }),
  }),
})

const tokenId = z.number().int().min(0)
const tokenCount = z.number().int().min(1).nullish()

const chatBody = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1, 'at least one message is needed'),
  tools: z.array(tool).nullish(),
  tool_choice: z.unknown().optional(),
  temperature: z.number().min(0).max(2).nullish(),
  seed: z.number().int().nullish(),
  max_tokens: tokenCount,
  max_completion_tokens: tokenCount,
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
  prompt_token_ids: z.array(tokenId).min(1).nullish(),
  continuation_from: z.number().int().min(1).nullish(),
})

/** What would change the reply and is not there, with the one value of each that changes nothing. Other unknown fields are let be. */
const FIXED: readonly (readonly [name: string, value: unknown, advice: string])[] = [
  ['stream', false, 'leave stream out or send false; replies come whole'],
  ['n', 1, 'ask once for each completion, with its own seed'],
  ['top_p', 1, 'use temperature alone'],
  ['top_k', -1, 'use temperature alone'],
  ['frequency_penalty', 0, 'leave it out'],
  ['presence_penalty', 0, 'leave it out'],
  ['top_logprobs', 0, 'the log-probability of the token itself comes with logprobs'],
  ['echo', false, 'ask for return_token_ids'],
]
const ABSENT: readonly (readonly [name: string, advice: string])[] = [
  ['stop', 'the model ends its turns by itself'],
  ['logit_bias', 'leave it out'],
  ['checkpoint', 'the head is served; move it with PUT /v2/models/{id}/head'],
]

/** Throws `bad-request` or `unsupported-parameter`. */
export function parseChatBody(body: unknown): ChatRequest {
  const parsed = parseBody(chatBody, body)
  refuseUnsupported(parsed)
  return {
    model: parsed.model,
    messages: parsed.messages.map(each =>
      each.role === 'assistant'
        ? { role: each.role, content: each.content, ...(each.tool_calls ? { tool_calls: each.tool_calls } : {}) }
        : each,
    ),
    tools: parsed.tool_choice === 'none' ? [] : (parsed.tools ?? []),
    temperature: parsed.temperature ?? 1,
    seed: parsed.seed ?? undefined,
    maxTokens: parsed.max_completion_tokens ?? parsed.max_tokens ?? undefined,
    wantsLogprobs: parsed.logprobs ?? false,
    wantsTokenIds: parsed.return_token_ids ?? false,
    continuation: toContinuation(parsed),
  }
}

function refuseUnsupported(body: z.output<typeof chatBody>): void {
  for (const [name, value, advice] of FIXED)
    if (body[name] !== undefined && body[name] !== null && body[name] !== value)
      throw unsupported(`${name} ${JSON.stringify(body[name])}`, name, advice)
  for (const [name, advice] of ABSENT)
    if (body[name] !== undefined && body[name] !== null) throw unsupported(name, name, advice)
  const choice = body.tool_choice ?? 'auto'
  if (choice !== 'auto' && choice !== 'none')
    throw unsupported(`tool_choice ${JSON.stringify(choice)}`, 'tool_choice', "only 'auto' and 'none' are")
  const format = body.response_format
  if (typeof format === 'object' && format !== null && (!('type' in format) || format.type !== 'text'))
    throw unsupported('response_format', 'response_format', 'replies are text')
}

function toContinuation(body: z.output<typeof chatBody>): Continuation | undefined {
  const { prompt_token_ids: tokens, continuation_from: from, messages } = body
  if (tokens == null && from == null) return undefined
  if (tokens == null || from == null)
    throw badRequest(
      tokens == null ? 'prompt_token_ids' : 'continuation_from',
      'prompt_token_ids and continuation_from belong together: the tokens so far, and how many messages they stand for',
    )
  if (from > messages.length)
    throw badRequest('continuation_from', `${from} of ${messages.length} messages cannot be continued from`)
  return { tokens: Uint32Array.from(tokens), from }
}
