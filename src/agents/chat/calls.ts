import type { ChatToolCall } from '../../models/chat.ts'
import type { Toolbox } from '../toolbox.ts'
import type { Call } from '../turns.ts'
import type { ToolResult } from './tools/index.ts'

/** A call as the model made it, read once. */
export interface ParsedCall {
  readonly id: string
  readonly name: string
  /** Undefined: no JSON object. */
  readonly given: Readonly<Record<string, unknown>> | undefined
  /** How the call is replayed to the model: always with arguments that can be parsed. */
  readonly replayed: ChatToolCall
}

export function parseCall(call: ChatToolCall): ParsedCall {
  const { name, arguments: text } = call.function
  const given = parseArguments(text)
  const replayed = given === undefined || text === '' ? { ...call, function: { name, arguments: '{}' } } : call
  return { id: call.id, name, given, replayed }
}

/** A call that can be run with what is in the toolbox; what cannot be is answered with why. `given` undefined: no JSON object. */
export function toCall(
  { name, given }: { readonly name: string; readonly given: Readonly<Record<string, unknown>> | undefined },
  toolbox: Toolbox,
): Call {
  return { name, given: given ?? {}, run: () => runCall(name, given, toolbox) }
}

async function runCall(
  name: string,
  given: Readonly<Record<string, unknown>> | undefined,
  toolbox: Toolbox,
): Promise<ToolResult> {
  const tool = toolbox.find(name)
  if (tool === undefined) {
    const known = toolbox.names.length === 0 ? 'there are none' : `there are ${toolbox.names.join(', ')}`
    return { type: 'malformed', text: `error: there is no tool "${name}"; ${known}` }
  }
  if (given === undefined)
    return { type: 'malformed', text: `error: the arguments of ${name} are no JSON object; it was not run` }
  return tool.run(given)
}

/** A call's arguments; undefined where they are no JSON object. None at all are an empty one. */
export function parseArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined // a model's slip, which it is told of
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}
