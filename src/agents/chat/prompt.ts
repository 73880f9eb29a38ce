import type { ChatMessage } from '../../models/chat.ts'
import type { PromptMessage } from '../prompt.ts'
import { type PromptPart, toUrl } from '../prompt-part.ts'

/** A message that also shows something, as chat completions take it. */
export interface ShowingMessage {
  readonly role: 'user'
  readonly content: readonly (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  )[]
}

/** What is sent of a conversation's beginning. */
export type FirstMessage = ChatMessage | ShowingMessage

export function toFirstMessage({ role, content }: PromptMessage): FirstMessage {
  if (typeof content !== 'string') return { role: 'user', content: content.map(toChatPart) }
  return role === 'assistant' ? { role, content } : { role, content }
}

function toChatPart(part: PromptPart): ShowingMessage['content'][number] {
  return part.type === 'text' ? part : { type: 'image_url', image_url: { url: toUrl(part) } }
}
