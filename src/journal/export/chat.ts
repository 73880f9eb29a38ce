import type { Trajectory, Turn } from '../../rollout/trajectory.ts'
import { type Column, column, type Field, leaf, list, struct, UTF8 } from './columns.ts'

/** One message of a conversation, as OpenAI's chat completions have it. */
export interface Message {
  readonly role: string
  /** Empty where an assistant only calls tools. */
  readonly content: string
  readonly tool_calls?: readonly MessageCall[]
  /** Of a `tool` message: which call it answers. */
  readonly tool_call_id?: string
}

export interface MessageCall {
  /** `call-0`, `call-1`, …: counted through the conversation, for the sampler's own ids are not kept. */
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON. */
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface Conversation {
  readonly prompt: readonly Message[]
  /** What the agent did: its messages, and the answers of its tools between them. */
  readonly completion: readonly Message[]
}

/**
 * A run as a conversation. A turn of the assistant and the tool turns after it are one message with calls, then a message for each
 * result. An answer that stands in no turn is the last message. What an agent put before the prompt itself (a system prompt, the list
 * of its tools) is not among what is kept of a run, and so not here.
 */
export function toConversation({ prompt, turns, answer }: Trajectory): Conversation {
  const completion: Message[] = []
  let calls = 0
  for (const { text, called } of toMoves(turns)) {
    const named = called.map(call => ({ call, id: `call-${calls++}` }))
    const tool_calls = named.map(({ call, id }): MessageCall => {
      return { id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }
    })
    completion.push({ role: 'assistant', content: text, ...(tool_calls.length === 0 ? {} : { tool_calls }) })
    for (const { call, id } of named) completion.push({ role: 'tool', content: call.result, tool_call_id: id })
  }
  const last = completion.at(-1)
  const isSaid = last?.role === 'assistant' && last.tool_calls === undefined
  if (!isSaid && typeof answer === 'string' && answer !== '') completion.push({ role: 'assistant', content: answer })
  return { prompt: toPrompt(prompt), completion }
}

/** A column of messages: a list of structs. */
export function messages<Row>(name: string, of: (row: Row) => readonly Message[]): Column<Row> {
  return column(list(name, struct('element', MESSAGE)), of)
}

/** Characters, near enough. */
export function weighMessages(all: readonly Message[]): number {
  return all.reduce((sum, { content, tool_calls = [] }) => {
    return sum + content.length + tool_calls.reduce((more, call) => more + call.function.arguments.length, 0)
  }, 0)
}

const CALL: readonly Field[] = [
  leaf('id', UTF8),
  leaf('type', UTF8),
  struct('function', [leaf('name', UTF8), leaf('arguments', UTF8)]),
]
const MESSAGE: readonly Field[] = [
  leaf('role', UTF8),
  leaf('content', UTF8),
  list('tool_calls', struct('element', CALL), 'OPTIONAL'),
  leaf('tool_call_id', UTF8, 'OPTIONAL'),
]

interface Move {
  readonly text: string
  readonly called: NonNullable<Turn['toolCalls']>[number][]
}

/** Agents record calls in the assistant's turn or in tool turns after it; one that has no words has tool turns alone. */
function toMoves(turns: readonly Turn[]): Move[] {
  const moves: Move[] = []
  for (const { role, text, toolCalls = [] } of turns) {
    const open = moves.at(-1)
    if (role === 'tool' && open !== undefined) open.called.push(...toolCalls)
    else moves.push({ text: role === 'tool' ? '' : text, called: [...toolCalls] })
  }
  return moves
}

function toPrompt(prompt: unknown): Message[] {
  if (prompt === null || prompt === undefined) return []
  if (!Array.isArray(prompt)) return [{ role: 'user', content: toContent(prompt) }]
  return prompt.map((message: unknown): Message => {
    const isMessage = typeof message === 'object' && message !== null && 'content' in message
    if (!isMessage) return { role: 'user', content: toContent(message) }
    return {
      role: 'role' in message && typeof message.role === 'string' ? message.role : 'user',
      content: toContent(message.content),
    }
  })
}

/** Text as it is, parts of text joined by line ends, and anything else, a picture for instance, as JSON: nothing is lost. */
function toContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (Array.isArray(content) && content.every(isText)) return content.map(({ text }) => text).join('\n')
  return JSON.stringify(content)
}

function isText(part: unknown): part is { readonly text: string } {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string'
}
