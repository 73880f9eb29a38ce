/**
 * A reply as tokens: its text, then for each call `<call>` name and for each value, in the order of the schema's properties,
 * `<arg>` value; then `<eot>`. Strings stand as they are, other values as JSON; optional ones at the end are left out.
 */
import type { ChatTool } from '../models/chat.ts'
import { notEncodable } from './errors.ts'
import type { Tokenizer } from './tokenizer.ts'

export interface Reply {
  readonly content: string
  readonly toolCalls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[]
}

export interface DecodedReply {
  readonly content: string
  /** `arguments` is JSON text where the call fits its tool; otherwise what there is, which is no JSON. */
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** With the ending `<eot>`. Throws `not-encodable` for a call that does not fit its tool. */
export function encodeReply(tokenizer: Tokenizer, { content, toolCalls }: Reply, tools: readonly ChatTool[]): number[] {
  const { encode, special } = tokenizer
  const calls = toolCalls.flatMap(call => {
    const values = toValues(call, findTool(tools, call.name))
    return [special('<call>'), ...encode(call.name), ...values.flatMap(value => [special('<arg>'), ...encode(value)])]
  })
  return [...encode(content), ...calls, special('<eot>')]
}

/** Never throws: a model may put out anything. What comes after the first `<eot>` is not read. */
export function decodeReply(tokenizer: Tokenizer, ids: ArrayLike<number>, tools: readonly ChatTool[]): DecodedReply {
  const { decode, special } = tokenizer
  const all = Array.from(ids)
  const end = all.indexOf(special('<eot>'))
  const [text = [], ...calls] = splitAt(end < 0 ? all : all.slice(0, end), special('<call>'))
  return {
    content: decode(text),
    calls: calls.map(call => {
      const [name = '', ...values] = splitAt(call, special('<arg>')).map(decode)
      const args = toArguments(values, findTool(tools, name))
      return {
        name,
        arguments: args === undefined ? values.map(value => `<arg>${value}`).join('') : JSON.stringify(args),
      }
    }),
  }
}

interface Parameter {
  readonly name: string
  readonly isString: boolean
  readonly type: unknown
  readonly isRequired: boolean
}

function findTool(tools: readonly ChatTool[], name: string): readonly Parameter[] | undefined {
  const parameters = tools.find(tool => tool.function.name === name)?.function.parameters
  if (parameters === undefined) return undefined
  return Object.entries(parameters.properties).map(([property, schema]) => ({
    name: property,
    type: schema.type,
    isString: schema.type === 'string',
    isRequired: parameters.required.includes(property),
  }))
}

function toValues({ name, arguments: given }: Reply['toolCalls'][number], parameters?: readonly Parameter[]): string[] {
  if (parameters === undefined) throw notEncodable(name, 'there is no such tool')
  const stranger = Object.keys(given).find(key => !parameters.some(each => each.name === key))
  if (stranger !== undefined) throw notEncodable(name, `it has no parameter ${stranger}`)
  const last = parameters.findLastIndex(each => given[each.name] !== undefined)
  const values = parameters.slice(0, last + 1).map(({ name: property, isString }) => {
    const value = given[property]
    if (value === undefined) return ''
    return isString ? String(value) : JSON.stringify(value)
  })
  const read = toArguments(values, parameters)
  if (read === undefined || JSON.stringify(read) !== JSON.stringify(inOrder(given, parameters)))
    throw notEncodable(name, `${JSON.stringify(given)} cannot be told by its values in order`)
  return values
}

function inOrder(given: Readonly<Record<string, unknown>>, parameters: readonly Parameter[]): Record<string, unknown> {
  return Object.fromEntries(
    parameters.filter(({ name }) => given[name] !== undefined).map(({ name }) => [name, given[name]]),
  )
}

/** Undefined where the values do not fit. An empty value of an optional parameter that is no string is one that was left out. */
function toArguments(
  values: readonly string[],
  parameters?: readonly Parameter[],
): Record<string, unknown> | undefined {
  if (parameters === undefined || values.length > parameters.length) return undefined
  const found: [string, unknown][] = []
  for (const [i, parameter] of parameters.entries()) {
    const text = values[i]
    if (text === undefined || (text === '' && !parameter.isString)) {
      if (parameter.isRequired) return undefined
      continue
    }
    const value = parameter.isString ? text : parseValue(text, parameter.type)
    if (value === undefined) return undefined
    found.push([parameter.name, value])
  }
  return Object.fromEntries(found)
}

function parseValue(text: string, type: unknown): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined // No JSON: the caller tells the text as it is.
  }
  const fits =
    type === 'integer'
      ? Number.isSafeInteger(value)
      : type === 'number' || type === 'boolean'
        ? typeof value === type
        : true
  return fits ? value : undefined
}

function splitAt(ids: readonly number[], separator: number): number[][] {
  const parts: number[][] = [[]]
  for (const id of ids) {
    if (id === separator) parts.push([])
    else parts.at(-1)?.push(id)
  }
  return parts
}
