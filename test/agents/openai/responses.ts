/** What OpenAI's Responses API streams, in the shape and order in which it does. */
import type { SseEvent, SseRequest, SseStep } from '../sdk/sse-server.ts'

export interface OpenAiWords {
  readonly text?: string
  readonly reasoning?: string
  /** Arguments given as text go out as they are. */
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown; readonly id?: string }[]
  readonly commands?: readonly string[]
  readonly cut?: true
}

export const MODEL = 'gpt-5.1-2025-11-13'

export function openAiStep(words: OpenAiWords): SseStep {
  return { events: openAiEvents(words) }
}

export function openAiEvents(words: OpenAiWords): SseEvent[] {
  const items = toItems(words)
  const head = { id: 'resp_01', object: 'response', created_at: 1, model: MODEL, error: null, incomplete_details: null }
  const status = words.cut === true ? 'incomplete' : 'completed'
  const end = {
    ...head,
    status,
    output: items,
    ...(words.cut === true ? { incomplete_details: { reason: 'max_output_tokens' } } : {}),
    usage: { input_tokens: 12, output_tokens: 20, total_tokens: 32 },
  }
  const numbered = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
    { type: 'response.in_progress', response: { ...head, status: 'in_progress', output: [] } },
    ...items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
      ...deltas(item, index),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: `response.${status}`, response: end },
  ]
  return numbered.map((data, place) => ({ event: data.type, data: { ...data, sequence_number: place } }))
}

/** What the tools gave so far; of the native shell, everything that its commands put out. */
export function toolResults({ body }: SseRequest): string[] {
  const items = body.input as { type?: string; output?: unknown }[]
  return items.flatMap(({ type, output }) => {
    if (type === 'function_call_output') return [String(output)]
    if (type !== 'shell_call_output') return []
    return [(output as { stdout: string; stderr: string }[]).map(({ stdout, stderr }) => stdout + stderr).join('')]
  })
}

type Item = { readonly type: string; readonly id: string; readonly [key: string]: unknown }

function toItems({ text, reasoning, calls = [], commands }: OpenAiWords): Item[] {
  const status = 'completed'
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: 'rs_0',
            summary: [],
            encrypted_content: reasoning === 'unsealed' ? null : reasoning,
            status,
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: 'msg_0',
            role: 'assistant',
            status,
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ]),
    ...calls.map(({ name, arguments: given, id }, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: id ?? `call_${index}`,
      name,
      arguments: typeof given === 'string' ? given : JSON.stringify(given),
      status,
    })),
    ...(commands === undefined
      ? []
      : [
          {
            type: 'shell_call',
            id: 'sh_0',
            call_id: 'call_sh',
            status,
            environment: { type: 'local' },
            action: { commands, timeout_ms: null, max_output_length: null },
          },
        ]),
  ]
}

function deltas(item: Item, index: number): { readonly type: string; readonly [key: string]: unknown }[] {
  const place = { item_id: item.id, output_index: index }
  if (item.type === 'function_call')
    return [
      { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
      { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: item.arguments },
    ]
  if (item.type === 'message')
    return [{ type: 'response.output_text.delta', ...place, content_index: 0, delta: 'so', logprobs: [] }]
  return []
}
