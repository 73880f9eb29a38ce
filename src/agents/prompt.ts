import { badPrompt } from './errors.ts'
import type { PromptPart } from './prompt-part.ts'
import { toParts } from './prompt-part.ts'

/** One message of a prompt, as a model is shown it. Content that is text alone is one text; only users send images. */
export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly PromptPart[]
}

/** A JSON Schema. */
export type AnswerSchema = Readonly<Record<string, unknown>>

/** What goes with a prompt. */
export interface PromptExtras {
  /** Said before everything else. */
  readonly systemPrompt?: string | undefined
  /** What the answer has to fit, which the last message says. */
  readonly returns?: AnswerSchema | undefined
}

/**
 * A template's prompt as a conversation's first messages. Text is one user message; a list holds chat messages whose content is text, or one block or several
 * of it: text, images (as MCP, Anthropic or OpenAI write them) or resources with text. Neighbouring texts are joined by a line break; `developer` counts as
 * `system`. Throws `bad-prompt` for whatever else: nobody is shown half of a prompt.
 */
export function promptMessages(
  prompt: unknown,
  { systemPrompt, returns }: PromptExtras = {},
): readonly PromptMessage[] {
  const system: PromptMessage[] = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }]
  return withWords([...system, ...toMessages(prompt)], answerWords(returns))
}

/** The same as one text, for those who take no messages: the texts of all messages with an empty line between them. Throws `bad-prompt`, also for images. */
export function promptText(prompt: unknown, extras: PromptExtras = {}): string {
  return promptMessages(prompt, extras).map(toText).join('\n\n')
}

/** What a message says. Throws `bad-prompt` where it also shows something. */
export function toText({ content }: PromptMessage): string {
  if (typeof content === 'string') return content
  return content
    .map(part => {
      if (part.type === 'text') return part.text
      throw badPrompt('it holds an image, and this agent is shown text alone')
    })
    .join('\n')
}

/** How an answer that fits the schema is asked for; undefined where there is nothing to ask, as any text fits. */
export function answerWords(returns: AnswerSchema | undefined): string | undefined {
  if (returns === undefined || isPlainText(returns)) return undefined
  const { $schema: _, ...schema } = returns
  return `When you are done, answer with one JSON value and nothing else, which fits this JSON Schema:\n${JSON.stringify(schema)}`
}

/** True of a schema that every text fits as it is. */
export function isPlainText({ type, ...rest }: AnswerSchema): boolean {
  return type === 'string' && !('enum' in rest) && !('const' in rest)
}

function toMessages(prompt: unknown): readonly PromptMessage[] {
  if (typeof prompt === 'string') return [{ role: 'user', content: prompt }]
  if (!Array.isArray(prompt)) throw badPrompt(`it is ${prompt === null ? 'null' : `of type ${typeof prompt}`}`)
  if (prompt.length === 0) throw badPrompt('it has no message')
  return prompt.map(toMessage)
}

function toMessage(message: unknown, index: number): PromptMessage {
  const place = `message ${index + 1}`
  if (typeof message === 'string') return { role: 'user', content: message }
  if (typeof message !== 'object' || message === null || !('content' in message))
    throw badPrompt(`${place} has no content`)
  const role = toRole('role' in message ? message.role : 'user', place)
  const parts = toParts(message.content, place)
  const isText = parts.every(({ type }) => type === 'text')
  if (!isText && role !== 'user') throw badPrompt(`${place} holds an image, and only messages of the user may`)
  return { role, content: isText ? parts.map(part => ('text' in part ? part.text : '')).join('\n') : parts }
}

function toRole(role: unknown, place: string): PromptMessage['role'] {
  if (role === 'developer') return 'system'
  if (role === 'system' || role === 'user' || role === 'assistant') return role
  throw badPrompt(`${place} has the role ${JSON.stringify(role)}`)
}

/** The words go to the end of what the user says last, since some services take no two messages of one role. */
function withWords(messages: readonly PromptMessage[], words: string | undefined): readonly PromptMessage[] {
  if (words === undefined) return messages
  const last = messages.at(-1)
  if (last?.role !== 'user') return [...messages, { role: 'user', content: words }]
  const content =
    typeof last.content === 'string'
      ? `${last.content}\n\n${words}`
      : [...last.content, { type: 'text' as const, text: words }]
  return [...messages.slice(0, -1), { role: 'user', content }]
}
