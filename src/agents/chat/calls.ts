import type { ChatToolCall } from '../../models/chat.ts'
import type { Tool, ToolContext, ToolResult } from './tools/index.ts'

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
  const given = parseObject(text)
  const replayed = given === undefined || text === '' ? { ...call, function: { name, arguments: '{}' } } : call
  return { id: call.id, name, given, replayed }
}

/** Rejects only as a tool does: with the shell gone, or aborted. */
export async function runCall(
  { name, given }: ParsedCall,
  tools: ReadonlyMap<string, Tool>,
  context: ToolContext | undefined,
): Promise<ToolResult> {
  const tool = tools.get(name)
  if (tool === undefined || context === undefined) {
    const known = tools.size === 0 ? 'there are none' : `there are ${[...tools.keys()].join(', ')}`
    return { type: 'malformed', text: `error: there is no tool "${name}"; ${known}` }
  }
  if (given === undefined)
    return { type: 'malformed', text: `error: the arguments of ${name} are no JSON object; it was not run` }
  return tool.run(given, context)
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined // a model's slip, which it is told of
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}
