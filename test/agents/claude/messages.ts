/** What Anthropic's Messages API streams, in the shape and order in which it does. */
import type { SseEvent, SseRequest, SseStep } from '../sdk/sse-server.ts'

export interface ClaudeWords {
  readonly text?: string
  readonly thinking?: string
  /** Arguments given as text go out as they are. */
  readonly calls?: readonly { readonly name: string; readonly input: unknown; readonly id?: string }[]
  readonly stop?: string
}

export const MODEL = 'claude-sonnet-4-5-20250929'

export function claudeStep(words: ClaudeWords): SseStep {
  return { events: claudeEvents(words) }
}

export function claudeEvents({ text, thinking, calls = [], stop }: ClaudeWords): SseEvent[] {
  const blocks = [
    ...(thinking === undefined ? [] : [thinkingBlock(thinking)]),
    ...(text === undefined ? [] : [textBlock(text)]),
    ...calls.map(callBlock),
  ]
  const message = {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 1 },
  }
  return [
    event({ type: 'message_start', message }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      event({ type: 'content_block_start', index, content_block: start }),
      event({ type: 'ping' }),
      ...deltas.map(delta => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]),
    event({
      type: 'message_delta',
      delta: { stop_reason: stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'), stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    event({ type: 'message_stop' }),
  ]
}

/** What the tools gave so far. */
export function toolResults({ body }: SseRequest): string[] {
  const messages = body.messages as { content: string | { type: string; content?: string }[] }[]
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap(block => (block.type === 'tool_result' ? [String(block.content)] : [])),
  )
}

function event(data: { readonly type: string; readonly [key: string]: unknown }): SseEvent {
  return { event: data.type, data }
}

function textBlock(text: string) {
  return { start: { type: 'text', text: '' }, deltas: halves(text).map(half => ({ type: 'text_delta', text: half })) }
}

function thinkingBlock(thinking: string) {
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...halves(thinking).map(half => ({ type: 'thinking_delta', thinking: half })),
      { type: 'signature_delta', signature: 'sealed' },
    ],
  }
}

function callBlock({ name, input, id }: NonNullable<ClaudeWords['calls']>[number], index: number) {
  const json = typeof input === 'string' ? input : JSON.stringify(input)
  return {
    start: { type: 'tool_use', id: id ?? `toolu_${index}`, name, input: {} },
    deltas: ['', ...halves(json)].map(half => ({ type: 'input_json_delta', partial_json: half })),
  }
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
