/** JSON-RPC 2.0 as HUD's control channel uses it: what a message is, and how one is written. */

export type JsonObject = Readonly<Record<string, unknown>>
export type RpcId = number | string

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  failed: -32000,
} as const

/** A request that was answered with an error. `data.tag` names the reason to peers of ours; others read the text only. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number
  readonly data: JsonObject | undefined

  constructor(code: number, message: string, data?: JsonObject) {
    super(message)
    this.code = code
    this.data = data
  }
}

export interface RpcRequest {
  /** Absent: a notification, which is never answered. */
  readonly id: RpcId | undefined
  readonly method: string
  readonly params: JsonObject
  /** Which of a shared connection's sessions it is for; 0 is the one whose `hello` opened the connection. */
  readonly channel: number
}

export type RpcReply =
  | { readonly id: RpcId | undefined; readonly result: JsonObject }
  | { readonly id: RpcId | undefined; readonly error: RpcRefusal }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Throws `RpcRefusal` for what is no request. */
export function parseRequest(message: JsonObject): RpcRequest {
  const { method, params, ch } = message
  const id = toId(message.id)
  if (typeof method !== 'string') throw new RpcRefusal(RPC.invalidRequest, "invalid request: 'method' must be a string")
  if (params !== undefined && params !== null && !isObject(params))
    throw new RpcRefusal(RPC.invalidParams, `${method}: 'params' must be an object`)
  if (ch !== undefined && !isChannel(ch))
    throw new RpcRefusal(RPC.invalidRequest, "invalid request: 'ch' must be a whole number from 0 up")
  return { id, method, params: params ?? {}, channel: ch ?? 0 }
}

/** Undefined for what is no reply. A result that is not an object is no reply of this protocol. */
export function parseReply(message: JsonObject): RpcReply | undefined {
  const id = toId(message.id)
  const { error, result } = message
  if (isObject(error)) {
    const code = typeof error.code === 'number' ? error.code : RPC.failed
    const data = isObject(error.data) ? error.data : undefined
    return { id, error: new RpcRefusal(code, toText(error.message), data) }
  }
  return isObject(result) ? { id, result } : undefined
}

/**
 * A peer's text, or what stands in its place. Neither `String` nor `JSON.stringify` may be asked about an object of a peer's making: one throws where its
 * `toString` is no function, the other where it is nested too deep.
 */
export function toText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return '(an object)'
  return value === undefined || value === null ? '' : String(value)
}

/** The id of anything, for an answer to what could not be understood. */
export function toId(id: unknown): RpcId | undefined {
  return typeof id === 'number' || typeof id === 'string' ? id : undefined
}

export function requestText(id: number | undefined, method: string, params: JsonObject, channel: number): string {
  const idPart = id === undefined ? '' : `"id":${id},`
  const channelPart = channel === 0 ? '' : `,"ch":${channel}`
  return `{"jsonrpc":"2.0",${idPart}"method":"${method}","params":${JSON.stringify(params)}${channelPart}}\n`
}

/** Throws TypeError for a result that JSON cannot hold. */
export function resultText(id: RpcId, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${JSON.stringify(result)}}\n`
}

export function errorText(id: RpcId | undefined, code: number, message: string, data?: JsonObject): string {
  const error = data === undefined ? { code, message } : { code, message, data }
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(error)}}\n`
}

function idText(id: RpcId | undefined): string {
  return typeof id === 'string' ? JSON.stringify(id) : String(id ?? null)
}

function isChannel(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
