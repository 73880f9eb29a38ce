import type { ChatTool, ChatToolCall } from '../../models/chat.ts'
import { mixSeed } from '../../random.ts'
import type { ChatSettings } from './config.ts'
import type { FirstMessage } from './prompt.ts'
import type { ChatReply } from './reply.ts'

/** The messages so far, and the body of the request that asks for the next one. */
export interface Conversation {
  body(turn: number): string
  /** Appends the model's message with the calls as they are to be replayed. */
  answered(reply: ChatReply, calls: readonly ChatToolCall[]): void
  toolAnswered(callId: string, text: string): void
}

/** What the server is to hold the answer to. */
export interface ResponseFormat {
  readonly type: 'json_schema'
  readonly json_schema: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
}

/** The tokens of the first `messages` messages, as the server last saw and put them out. */
interface Covered {
  readonly messages: number
  readonly prompt: Uint32Array
  readonly output: Uint32Array
}

/** `seed` draws one for each turn, unless the settings name a seed, or null for none. */
export function makeConversation(
  first: readonly FirstMessage[],
  settings: Pick<ChatSettings, 'model' | 'bodyFields' | 'wantsTokens'> & {
    readonly format?: ResponseFormat | undefined
  },
  tools: readonly ChatTool[],
  seed: number,
): Conversation {
  const messages = [...first]
  const { seed: ownSeed, ...fields } = settings.bodyFields
  let covered: Covered | undefined

  return {
    body(turn) {
      const turnSeed = ownSeed === undefined ? mixSeed(seed, turn) : ownSeed
      return JSON.stringify({
        model: settings.model,
        messages,
        ...(settings.format === undefined ? {} : { response_format: settings.format }),
        ...fields,
        ...(turnSeed === null ? {} : { seed: turnSeed }),
        ...(tools.length === 0 ? {} : { tools }),
        // What was tokenised or sampled once is sent as it was: text that is tokenised again may come out otherwise.
        ...(covered === undefined
          ? {}
          : { prompt_token_ids: [...covered.prompt, ...covered.output], continuation_from: covered.messages }),
      })
    },
    answered({ content, promptIds, outputIds }, calls) {
      messages.push({
        role: 'assistant',
        content: calls.length === 0 ? (content ?? '') : content,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      })
      const hasIds = settings.wantsTokens && promptIds !== undefined && outputIds !== undefined
      covered = hasIds ? { messages: messages.length, prompt: promptIds, output: outputIds } : undefined
    },
    toolAnswered: (callId, text) => void messages.push({ role: 'tool', tool_call_id: callId, content: text }),
  }
}
