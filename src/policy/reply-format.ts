/**
 * A reply as tokens: its text, then for each call `<call>` name and its values, each behind the mark of its parameter's place in the
 * schema's properties (`<arg1>` for the first), then `<eot>`. Strings stand as they are, other values as JSON, and what is left
 * out has no mark. A mark of its own for each place tells a small model where in a call it is.
 */
import type { ChatTool } from '../models/chat.ts'
import { notEncodable } from './errors.ts'
import { ARGUMENT_TOKENS, type Tokenizer } from './tokenizer.ts'

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
    return [
      special('<call>'),
      ...encode(call.name),
      ...values.flatMap(({ mark, text }) => [special(mark), ...encode(text)]),
    ]
  })
  return [...encode(content), ...calls, special('<eot>')]
}

/** Never throws: a model may put out anything. What comes after the first `<eot>` is not read. */
export function decodeReply(tokenizer: Tokenizer, ids: ArrayLike<number>, tools: readonly ChatTool[]): DecodedReply {
  const { decode, special } = tokenizer
  const marks = ARGUMENT_TOKENS.map(special)
  const all = Array.from(ids)
  const end = all.indexOf(special('<eot>'))
  const [text = [], ...calls] = splitBefore(end < 0 ? all : all.slice(0, end), [special('<call>')])
  return {
    content: decode(text),
    calls: calls.map(call => {
      const [named = [], ...given] = splitBefore(call.slice(1), marks)
      const name = decode(named)
      const values = given.map(([mark = -1, ...value]) => ({ place: marks.indexOf(mark), text: decode(value) }))
      const args = toArguments(values, findTool(tools, name))
      return { name, arguments: args === undefined ? given.map(decode).join('') : JSON.stringify(args) }
    }),
  }
}

interface Parameter {
  readonly name: string
  readonly isString: boolean
  readonly type: unknown
  readonly isRequired: boolean
}

interface Value {
  /** From 0. */
  readonly place: number
  readonly text: string
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

function toValues({ name, arguments: given }: Reply['toolCalls'][number], parameters?: readonly Parameter[]) {
  if (parameters === undefined) throw notEncodable(name, 'there is no such tool')
  const stranger = Object.keys(given).find(key => !parameters.some(each => each.name === key))
  if (stranger !== undefined) throw notEncodable(name, `it has no parameter ${stranger}`)
  const values = parameters.flatMap(({ name: property, isString }, place) => {
    const value = given[property]
    const mark = ARGUMENT_TOKENS[place]
    if (value === undefined) return []
    if (mark === undefined) throw notEncodable(name, `only its first ${ARGUMENT_TOKENS.length} parameters can be told`)
    return [{ place, mark, text: isString ? String(value) : JSON.stringify(value) }]
  })
  const read = toArguments(values, parameters)
  if (read === undefined || JSON.stringify(read) !== JSON.stringify(inOrder(given, parameters)))
    throw notEncodable(name, `${JSON.stringify(given)} does not fit its parameters`)
  return values
}

function inOrder(given: Readonly<Record<string, unknown>>, parameters: readonly Parameter[]): Record<string, unknown> {
  return Object.fromEntries(
    parameters.filter(({ name }) => given[name] !== undefined).map(({ name }) => [name, given[name]]),
  )
}

/** Undefined where the values do not fit: a place that is not there or comes twice, a wrong type, a required one that is missing. */
function toArguments(
  values: readonly Value[],
  parameters?: readonly Parameter[],
): Readonly<Record<string, unknown>> | undefined {
  if (parameters === undefined) return undefined
  const texts = new Map(values.map(({ place, text }) => [place, text]))
  if (texts.size < values.length || values.some(({ place }) => parameters[place] === undefined)) return undefined
  const found: [string, unknown][] = []
  for (const [place, { name, isString, type, isRequired }] of parameters.entries()) {
    const text = texts.get(place)
    if (text === undefined && isRequired) return undefined
    if (text === undefined) continue
    const value = isString ? text : parseValue(text, type)
    if (value === undefined) return undefined
    found.push([name, value])
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

/** Cuts before each of these tokens: every part but the first begins with one. */
function splitBefore(ids: readonly number[], tokens: readonly number[]): number[][] {
  const parts: number[][] = [[]]
  for (const id of ids) {
    if (tokens.includes(id)) parts.push([id])
    else parts.at(-1)?.push(id)
  }
  return parts
}
