/**
 * Conversations as tokens. The policy's context is small, and so is its window on a conversation: the messages after the last reply.
 * What is too long for it is cut out of the middle of the longest messages.
 */
import type { ChatMessage, ChatTool } from '../models/chat.ts'
import { type DecodedReply, decodeReply, encodeReply, type Reply } from './reply-format.ts'
import type { SpecialToken, Tokenizer } from './tokenizer.ts'

/** Share of the context that is kept free for the output. */
const OUTPUT_SHARE = 1 / 3
/** Characters for each token of the context beyond which a message is cut before it is encoded. */
const CHARACTERS_FOR_TOKEN = 16
/** Tokens to which a message is cut at most: its role and one of its text. */
const SHORTEST = 2

export interface ChatFormat {
  /** Ends a reply. */
  readonly stopToken: number
  /**
   * The prompt for the next reply, with `<assistant>` at its end and never longer than what leaves a third of the context free. With
   * `continuation`, its tokens (a prompt and its output) stand for the first `from` messages, and none of these is encoded again.
   */
  toPrompt(messages: readonly ChatMessage[], tools: readonly ChatTool[], continuation?: Continuation): Uint32Array
  /** Throws `not-encodable`. */
  toOutput(reply: Reply, tools: readonly ChatTool[]): Uint32Array
  /** Never throws. */
  toReply(output: Uint32Array, tools: readonly ChatTool[]): DecodedReply
  /** The text of one token, for people to read. */
  toText(token: number): string
}

export interface Continuation {
  readonly tokens: Uint32Array
  readonly from: number
}

export function makeChatFormat(tokenizer: Tokenizer, { context }: { readonly context: number }): ChatFormat {
  const { special, decode } = tokenizer
  const limit = context - Math.ceil(context * OUTPUT_SHARE)
  const assistant = special('<assistant>')
  return {
    stopToken: special('<eot>'),
    toPrompt(messages, _tools, continuation) {
      const { kept, fresh } = windowOf(tokenizer, messages, continuation)
      const parts = [...kept, ...fresh.map(message => renderMessage(tokenizer, message, context))]
      return Uint32Array.from([...fitParts(parts, limit - 1).flat(), assistant])
    },
    toOutput: (reply, tools) => Uint32Array.from(encodeReply(tokenizer, reply, tools)),
    toReply: (output, tools) => decodeReply(tokenizer, output, tools),
    toText: token => decode([token]),
  }
}

/** What of the continuation's tokens is in the window, message by message, and which messages are still to be rendered. */
function windowOf(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  continuation: Continuation = { tokens: new Uint32Array(0), from: 0 },
): { readonly kept: number[][]; readonly fresh: readonly ChatMessage[] } {
  const lastReply = messages.findLastIndex(({ role }) => role === 'assistant')
  if (lastReply >= continuation.from - 1) return { kept: [], fresh: messages.slice(lastReply + 1) }
  const tokens = Array.from(continuation.tokens)
  const sinceReply = tokens.slice(tokens.lastIndexOf(tokenizer.special('<eot>')) + 1)
  return { kept: splitMessages(tokenizer, sinceReply), fresh: messages.slice(continuation.from) }
}

/** A message's role and its text. */
function renderMessage(tokenizer: Tokenizer, message: ChatMessage, context: number): number[] {
  const role: SpecialToken = `<${message.role}>`
  const text = message.content ?? ''
  const most = context * CHARACTERS_FOR_TOKEN
  const characters = text.length > 2 * most ? `${text.slice(0, most)}${text.slice(-most)}` : text
  return [tokenizer.special(role), ...tokenizer.encode(characters)]
}

/** Tokens of rendered messages, taken apart again. An `<assistant>` without text, a prompt's end, is none. */
function splitMessages({ special }: Tokenizer, tokens: readonly number[]): number[][] {
  const roles = new Set([special('<system>'), special('<user>'), special('<tool>'), special('<assistant>')])
  const parts: number[][] = []
  for (const token of tokens) {
    if (roles.has(token) || parts.length === 0) parts.push([token])
    else parts.at(-1)?.push(token)
  }
  return parts.filter(part => part.length > 1 || part[0] !== special('<assistant>'))
}

/** Cuts the longest parts to one length, the largest with which all fit. Where even that is too much, the first parts go. */
function fitParts(parts: readonly number[][], limit: number): number[][] {
  const total = (most: number) => parts.reduce((sum, part) => sum + Math.min(part.length, most), 0)
  if (total(Number.POSITIVE_INFINITY) <= limit) return [...parts]
  const room = Math.floor(limit / SHORTEST)
  if (parts.length > room) return room === 0 ? [] : fitParts(parts.slice(-room), limit)
  let most = SHORTEST
  while (total(most + 1) <= limit) most += 1
  return parts.map(part => cutMiddle(part, most))
}

function cutMiddle(part: readonly number[], most: number): number[] {
  if (part.length <= most) return [...part]
  const head = Math.ceil(most / 2)
  return [...part.slice(0, head), ...part.slice(part.length - (most - head))]
}
