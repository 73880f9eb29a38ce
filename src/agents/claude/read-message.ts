import { parseArguments } from '../chat/calls.ts'
import { untilWhole } from '../sdk/until-whole.ts'
import type { ContentParam, MessageEvent } from './sdk.ts'

/** A call of a tool in a message, its arguments read once; undefined: no JSON object. */
export interface ClaudeCall {
  readonly id: string
  readonly name: string
  readonly given: Readonly<Record<string, unknown>> | undefined
}

/** A whole message of the model. */
export interface ClaudeMessage {
  /** As it is replayed: calls always with arguments that can be parsed. */
  readonly content: ContentParam[]
  readonly text: string
  readonly calls: readonly ClaudeCall[]
  readonly isCut: boolean
  /** The exact model, as the service names it. */
  readonly model: string
}

type Block =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; json: string }

const CUT_REASONS = new Set(['max_tokens', 'model_context_window_exceeded'])

/** Puts a streamed message together. Undefined when the stream ends before the message does. */
export async function readMessage(events: AsyncIterable<MessageEvent>): Promise<ClaudeMessage | undefined> {
  const blocks = new Map<number, Block>()
  let model = ''
  let stopReason: string | null = null
  let whole: ClaudeMessage | undefined
  // Read to its end, or the connection could not be used again.
  for await (const event of untilWhole(events, () => whole !== undefined)) {
    switch (event.type) {
      case 'message_start':
        model = event.message.model
        break
      case 'content_block_start': {
        const block = startBlock(event.content_block)
        if (block !== undefined) blocks.set(event.index, block)
        break
      }
      case 'content_block_delta':
        extend(blocks.get(event.index), event.delta)
        break
      case 'message_delta':
        stopReason = event.delta.stop_reason ?? stopReason
        break
      case 'message_stop':
        whole = finish([...blocks.values()], stopReason, model)
        break
    }
  }
  return whole
}

type StartEvent = Extract<MessageEvent, { type: 'content_block_start' }>
type DeltaEvent = Extract<MessageEvent, { type: 'content_block_delta' }>

/** Undefined for what no tool of this agent brings about. */
function startBlock(start: StartEvent['content_block']): Block | undefined {
  switch (start.type) {
    case 'text':
      return { type: 'text', text: start.text }
    case 'thinking':
      return { type: 'thinking', thinking: start.thinking, signature: start.signature }
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: start.data }
    case 'tool_use':
      return { type: 'tool_use', id: start.id, name: start.name, json: '' }
    default:
      return undefined
  }
}

function extend(block: Block | undefined, delta: DeltaEvent['delta']): void {
  if (block?.type === 'text' && delta.type === 'text_delta') block.text += delta.text
  else if (block?.type === 'tool_use' && delta.type === 'input_json_delta') block.json += delta.partial_json
  else if (block?.type === 'thinking' && delta.type === 'thinking_delta') block.thinking += delta.thinking
  else if (block?.type === 'thinking' && delta.type === 'signature_delta') block.signature += delta.signature
}

function finish(blocks: readonly Block[], stopReason: string | null, model: string): ClaudeMessage {
  const calls: ClaudeCall[] = []
  const content: ContentParam[] = []
  const texts: string[] = []
  for (const block of blocks) {
    if (block.type === 'tool_use') {
      const given = parseArguments(block.json)
      calls.push({ id: block.id, name: block.name, given })
      content.push({ type: 'tool_use', id: block.id, name: block.name, input: given ?? {} })
    } else if (block.type === 'text') {
      texts.push(block.text)
      // The service refuses an empty one, even of its own.
      if (block.text !== '') content.push({ type: 'text', text: block.text })
    } else content.push({ ...block })
  }
  return { content, text: texts.join(''), calls, isCut: CUT_REASONS.has(stopReason ?? ''), model }
}
