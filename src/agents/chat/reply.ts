import { z } from 'zod'
import type { ChatToolCall } from '../../models/chat.ts'
import { badChatReply } from './errors.ts'

/** What a chat-completions server answered, its first choice. */
export interface ChatReply {
  readonly content: string | null
  readonly calls: readonly ChatToolCall[]
  /** Cut off at its token limit. */
  readonly isCut: boolean
  /** Which weights put it out. */
  readonly version: string | undefined
  readonly promptIds: Uint32Array | undefined
  readonly outputIds: Uint32Array | undefined
  /** Of the output's tokens, natural logarithms. */
  readonly logprobs: Float32Array | undefined
}

// The token fields hold thousands of numbers each and are read below, by hand.
const replySchema = z.object({
  system_fingerprint: z.string().nullish(),
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string().nullish() }) }),
            )
            .nullish(),
        }),
        finish_reason: z.string().nullish(),
        prompt_token_ids: z.unknown().optional(),
        token_ids: z.unknown().optional(),
        logprobs: z.object({ content: z.unknown().optional() }).nullish(),
      }),
    )
    .min(1),
})

const LENGTH_REASONS = new Set(['length', 'max_tokens', 'model_length'])

/** Throws `bad-chat-reply`. Whether token fields must be there is the caller's to say. */
export function parseReply(value: unknown, url: string): ChatReply {
  const parsed = replySchema.safeParse(value)
  const choice = parsed.data?.choices[0]
  if (parsed.data === undefined || choice === undefined) throw badChatReply(url, firstComplaint(parsed.error))
  const { message, finish_reason: finish } = choice
  return {
    content: message.content ?? null,
    calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
      id,
      type: 'function',
      function: { name, arguments: given ?? '' },
    })),
    isCut: LENGTH_REASONS.has(finish ?? ''),
    version: parsed.data.system_fingerprint ?? undefined,
    promptIds: toIds(choice.prompt_token_ids, 'prompt_token_ids', url),
    outputIds: toIds(choice.token_ids, 'token_ids', url),
    logprobs: toLogprobs(choice.logprobs?.content, url),
  }
}

function toIds(value: unknown, name: string, url: string): Uint32Array | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw badChatReply(url, `${name} is no list`)
  const ids = new Uint32Array(value.length)
  for (let index = 0; index < ids.length; index += 1) {
    const id: unknown = value[index]
    if (typeof id !== 'number' || id >>> 0 !== id) throw badChatReply(url, `${name}[${index}] is no token id`)
    ids[index] = id
  }
  return ids
}

function toLogprobs(value: unknown, url: string): Float32Array | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw badChatReply(url, 'logprobs.content is no list')
  const logprobs = new Float32Array(value.length)
  for (let index = 0; index < logprobs.length; index += 1) {
    const entry: unknown = value[index]
    const logprob = typeof entry === 'object' && entry !== null && 'logprob' in entry ? entry.logprob : undefined
    if (typeof logprob !== 'number') throw badChatReply(url, `logprobs.content[${index}] has no logprob`)
    logprobs[index] = logprob
  }
  return logprobs
}

function firstComplaint(error: z.ZodError | undefined): string {
  const [issue] = error?.issues ?? []
  return issue === undefined ? 'it has no choice' : `${issue.path.join('.')}: ${issue.message}`
}
