import { parseArguments, toCall } from '../chat/calls.ts'
import { tracingHeaders } from '../own-endpoint.ts'
import type { AnswerSchema, PromptMessage } from '../prompt.ts'
import { toUrl } from '../prompt-part.ts'
import { askSdk, type SdkPorts } from '../sdk/ask-sdk.ts'
import type { Toolbox } from '../toolbox.ts'
import type { Call, Dialogue } from '../turns.ts'
import type { OpenAiSettings } from './config.ts'
import type { ShellResult } from './native-shell.ts'
import { type OpenAiCall, readResponse } from './read-response.ts'
import type { InputItem, OpenAiClient, OpenAiTool, ResponseRequest, ShellCall } from './sdk.ts'

/** The service's own shell tool, where the model is offered it. */
export type NativeShell = (action: ShellCall['action']) => Promise<ShellResult>

/** A conversation by OpenAI's Responses API, streamed and kept on this side: nothing is stored there. */
export function makeOpenAiDialogue(
  first: readonly PromptMessage[],
  settings: OpenAiSettings,
  client: OpenAiClient,
  place: {
    readonly toolbox: Toolbox
    readonly shell: NativeShell | undefined
    readonly returns?: AnswerSchema | undefined
  },
  ports: SdkPorts & { readonly signal: AbortSignal; readonly traceparent?: string | undefined },
): Dialogue {
  const headers = tracingHeaders(settings.isOwn, ports.traceparent)
  const input: InputItem[] = first.map(toItem)
  const tools = toDefinitions(place.toolbox, place.shell !== undefined)
  const outputs = new Map<string, ShellResult>()
  let calls: readonly OpenAiCall[] = []

  function toRequest(): ResponseRequest {
    const request: ResponseRequest = { model: settings.model, input: [...input], stream: true, store: false }
    if (tools.length > 0) request.tools = tools
    // The service holds only objects to a schema.
    if (place.returns?.type === 'object')
      request.text = { format: { type: 'json_schema', name: 'answer', schema: { ...place.returns }, strict: false } }
    return Object.assign(request, settings.fields)
  }

  function toRunnable(call: OpenAiCall): Call {
    if (call.type === 'function') return toCall({ name: call.name, given: parseArguments(call.text) }, place.toolbox)
    const { action, callId } = call
    return {
      name: 'shell',
      given: { ...action },
      async run() {
        if (place.shell === undefined) return { type: 'malformed', text: 'error: there is no tool "shell"' }
        const result = await place.shell(action)
        outputs.set(callId, result)
        return result
      },
    }
  }

  return {
    url: settings.url,
    async ask(_turn, random) {
      const request = toRequest()
      const reply = await askSdk(settings, { ...ports, random }, async (signal, heard) =>
        readResponse(await client.stream(request, signal, heard, headers), settings.url),
      )
      calls = reply.calls
      input.push(...reply.replayed)
      return { answer: reply.text, calls: calls.map(toRunnable), isCut: reply.isCut, version: reply.model }
    },
    answered(results) {
      for (const [index, call] of calls.entries()) {
        const text = results[index]?.text ?? ''
        if (call.type === 'function') input.push({ type: 'function_call_output', call_id: call.callId, output: text })
        else {
          const output = outputs.get(call.callId)?.output ?? []
          input.push({ type: 'shell_call_output', call_id: call.callId, output: [...output] })
        }
      }
      outputs.clear()
    },
  }
}

function toItem({ role, content }: PromptMessage): InputItem {
  if (typeof content === 'string') return { role, content }
  return {
    role,
    content: content.map(part =>
      part.type === 'text'
        ? { type: 'input_text', text: part.text }
        : { type: 'input_image', image_url: toUrl(part), detail: 'auto' },
    ),
  }
}

function toDefinitions({ own, foreign }: Toolbox, hasShell: boolean): OpenAiTool[] {
  const functions = [...own.values(), ...foreign.values()].map(({ chat }): OpenAiTool => {
    const { name, description, parameters } = chat.function
    return { type: 'function', name, description, parameters: { ...parameters }, strict: false }
  })
  return hasShell ? [{ type: 'shell', environment: { type: 'local' } }, ...functions] : functions
}
