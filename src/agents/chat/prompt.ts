import type { ChatMessage } from '../../models/chat.ts'
import { badPrompt } from './errors.ts'

/**
 * A template's prompt as a conversation's first messages: text is one user message; a list holds chat messages whose content is text
 * or parts of it (`{ type: 'text', text }`). Throws `bad-prompt`.
 */
export function toMessages(prompt: unknown, systemPrompt?: string): readonly ChatMessage[] {
  const system: ChatMessage[] = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }]
  if (typeof prompt === 'string') return [...system, { role: 'user', content: prompt }]
  if (!Array.isArray(prompt)) throw badPrompt(`it is ${prompt === null ? 'null' : `of type ${typeof prompt}`}`)
  if (prompt.length === 0) throw badPrompt('it has no message')
  return [...system, ...prompt.map(toMessage)]
}

function toMessage(message: unknown, index: number): ChatMessage {
  const place = `message ${index + 1}`
  if (typeof message === 'string') return { role: 'user', content: message }
  if (typeof message !== 'object' || message === null || !('content' in message))
    throw badPrompt(`${place} has no content`)
  const role = 'role' in message ? message.role : 'user'
  if (role !== 'system' && role !== 'user' && role !== 'assistant')
    throw badPrompt(`${place} has the role ${JSON.stringify(role)}`)
  return { role, content: toText(message.content, place) }
}

function toText(content: unknown, place: string): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(part => toText(part, place)).join('\n')
  if (typeof content === 'object' && content !== null && 'text' in content && typeof content.text === 'string')
    return content.text
  throw badPrompt(`${place} holds something other than text`)
}
