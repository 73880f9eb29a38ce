import { toCall } from '../chat/calls.ts'
import { badPrompt } from '../errors.ts'
import { tracingHeaders } from '../own-endpoint.ts'
import { type PromptMessage, toText } from '../prompt.ts'
import type { PromptPart } from '../prompt-part.ts'
import { askSdk, type SdkPorts } from '../sdk/ask-sdk.ts'
import type { Toolbox } from '../toolbox.ts'
import type { Dialogue } from '../turns.ts'
import type { ClaudeSettings } from './config.ts'
import { type ClaudeCall, readMessage } from './read-message.ts'
import type { ClaudeClient, ContentParam, MessageParam, MessageRequest } from './sdk.ts'
import { toDefinitions } from './tools/index.ts'

/** A conversation by Anthropic's Messages API, streamed. */
export function makeClaudeDialogue(
  first: readonly PromptMessage[],
  settings: ClaudeSettings,
  client: ClaudeClient,
  toolbox: Toolbox,
  ports: SdkPorts & { readonly signal: AbortSignal; readonly traceparent?: string | undefined },
): Dialogue {
  const headers = tracingHeaders(settings.isOwn, ports.traceparent)
  const { system, messages } = toStart(first)
  const tools = toDefinitions(toolbox)
  let calls: readonly ClaudeCall[] = []

  function toRequest(): MessageRequest {
    const request: MessageRequest = {
      model: settings.model,
      max_tokens: settings.maxTokens,
      messages: withCachePoint(messages),
      stream: true,
    }
    if (system !== '') request.system = system
    if (tools.length > 0) request.tools = tools
    return Object.assign(request, settings.fields)
  }

  return {
    url: settings.url,
    async ask(_turn, random) {
      const request = toRequest()
      const message = await askSdk(settings, { ...ports, random }, async (signal, heard) =>
        readMessage(await client.stream(request, signal, heard, headers)),
      )
      calls = message.calls
      messages.push({ role: 'assistant', content: message.content })
      return {
        answer: message.text,
        calls: calls.map(call => toCall(call, toolbox)),
        isCut: message.isCut,
        ...(message.model === '' ? {} : { version: message.model }),
      }
    },
    answered(results) {
      const content = calls.map((call, index): ContentParam => {
        const { type = 'failed', text = '' } = results[index] ?? {}
        return { type: 'tool_result', tool_use_id: call.id, content: text, is_error: type !== 'done' }
      })
      messages.push({ role: 'user', content })
    },
  }
}

/** The service takes what the system says apart from the messages. */
function toStart(first: readonly PromptMessage[]): { readonly system: string; readonly messages: MessageParam[] } {
  const systems: string[] = []
  const messages: MessageParam[] = []
  for (const message of first) {
    const { role, content } = message
    if (role === 'system') systems.push(toText(message))
    else messages.push({ role, content: typeof content === 'string' ? content : content.map(toBlock) })
  }
  return { system: systems.join('\n\n'), messages }
}

function toBlock(part: PromptPart): ContentParam {
  if (part.type === 'text') return part
  if (part.type === 'image-url') return { type: 'image', source: { type: 'url', url: part.url } }
  const mediaType = MEDIA_TYPES.find(type => type === part.mediaType)
  if (mediaType === undefined)
    throw badPrompt(`an image is ${part.mediaType}, and the service takes ${MEDIA_TYPES.join(', ')}`)
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: part.data } }
}

const MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** Everything up to the newest message is read from the service's cache the next time: a long conversation costs its growth only. */
function withCachePoint(messages: readonly MessageParam[]): MessageParam[] {
  const last = messages.at(-1)
  if (last === undefined || last.role !== 'user' || typeof last.content === 'string') return [...messages]
  const blocks = [...last.content]
  const block = blocks.pop()
  if (block?.type !== 'tool_result') return [...messages]
  return [
    ...messages.slice(0, -1),
    { role: 'user', content: [...blocks, { ...block, cache_control: { type: 'ephemeral' } }] },
  ]
}
