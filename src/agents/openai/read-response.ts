import { untilWhole } from '../sdk/until-whole.ts'
import { responseFailed } from './errors.ts'
import type { InputItem, OutputItem, ResponseEvent, ShellCall } from './sdk.ts'

/** A call in a response. Arguments of a function are text, as the model put them out. */
export type OpenAiCall =
  | { readonly type: 'function'; readonly callId: string; readonly name: string; readonly text: string }
  | { readonly type: 'shell'; readonly callId: string; readonly action: ShellCall['action'] }

/** A whole response of the model. */
export interface OpenAiReply {
  readonly text: string
  readonly calls: readonly OpenAiCall[]
  /** As they go into the next request. */
  readonly replayed: readonly InputItem[]
  readonly isCut: boolean
  readonly model: string
}

/** What the service reports in the stream and may pass, by the status that it would have had before the stream began. */
const PASSING = new Map([
  ['server_error', 500],
  ['rate_limit_exceeded', 429],
  ['vector_store_timeout', 500],
])

/** Puts a streamed response together. Undefined when the stream ends before the response does. Throws what the service reports in the stream. */
export async function readResponse(
  events: AsyncIterable<ResponseEvent>,
  url: string,
): Promise<OpenAiReply | undefined> {
  const items = new Map<number, OutputItem>()
  let whole: OpenAiReply | undefined
  // Read to its end, or the connection could not be used again.
  for await (const event of untilWhole(events, () => whole !== undefined)) {
    switch (event.type) {
      case 'response.output_item.done':
        items.set(event.output_index, event.item)
        break
      case 'error':
        throw toFailure(url, event.code ?? 'error', event.message)
      case 'response.failed':
        throw toFailure(url, event.response.error?.code ?? 'failed', event.response.error?.message ?? 'no word why')
      case 'response.completed':
      case 'response.incomplete':
        // What was streamed item by item is whole by now; a server that streams none has them here.
        whole = finish(items.size > 0 ? [...items.values()] : event.response.output, event)
        break
    }
  }
  return whole
}

type EndEvent = Extract<ResponseEvent, { type: 'response.completed' | 'response.incomplete' }>

function finish(items: readonly OutputItem[], { type, response }: EndEvent): OpenAiReply {
  const texts: string[] = []
  const calls: OpenAiCall[] = []
  const replayed: InputItem[] = []
  for (const item of items) {
    switch (item.type) {
      case 'message':
        texts.push(item.content.map(part => (part.type === 'output_text' ? part.text : part.refusal)).join(''))
        replayed.push(item)
        break
      case 'function_call':
        calls.push({ type: 'function', callId: item.call_id, name: item.name, text: item.arguments })
        replayed.push(item)
        break
      case 'shell_call':
        calls.push({ type: 'shell', callId: item.call_id, action: item.action })
        replayed.push({ type: 'shell_call', call_id: item.call_id, action: item.action, status: 'completed' })
        break
      case 'reasoning':
        // Unsealed, the service would look for it in what it has stored, and it has stored nothing.
        if (typeof item.encrypted_content === 'string') replayed.push(item)
        break
    }
  }
  return {
    text: texts.join('\n'),
    calls,
    replayed,
    isCut: type === 'response.incomplete' && response.incomplete_details?.reason === 'max_output_tokens',
    model: response.model,
  }
}

function toFailure(url: string, code: string, words: string): Error {
  const status = PASSING.get(code)
  if (status === undefined) return responseFailed(url, code, words)
  return Object.assign(new Error(`${code}: ${words}`), { status })
}
