import type { Address } from './address.ts'
import type { Binding } from './binding.ts'
import { badReply } from './errors.ts'
import { type Grant, parseGrant } from './extension.ts'
import { isObject, type JsonObject, toText } from './json-rpc.ts'

/** The answer to `hello`. */
export interface Welcome {
  readonly sessionId: string
  readonly env: { readonly name: string; readonly version: string }
  readonly bindings: readonly Binding[]
  /** Undefined where the peer is not ours. */
  readonly grant: Grant | undefined
}

/** Throws `bad-reply` naming what is missing. */
export function parseWelcome(address: Address, result: JsonObject): Welcome {
  const { session_id: sessionId, env, bindings } = result
  if (typeof sessionId !== 'string') throw badReply(address, 'hello', 'without a session_id')
  if (!isObject(env)) throw badReply(address, 'hello', 'without the environment it serves')
  if (!Array.isArray(bindings)) throw badReply(address, 'hello', 'without its list of bindings')
  return {
    sessionId,
    env: { name: toText(env.name), version: toText(env.version) },
    bindings: bindings.map((binding: unknown) => parseBinding(address, binding)),
    grant: parseGrant(result.troupe),
  }
}

function parseBinding(address: Address, value: unknown): Binding {
  if (!isObject(value)) throw badReply(address, 'hello', 'with a binding that is no object')
  const { name, protocol, url, params } = value
  if (typeof name !== 'string' || typeof protocol !== 'string' || typeof url !== 'string')
    throw badReply(address, 'hello', 'with a binding that lacks a name, a protocol or a url')
  return { name, protocol, url, params: isObject(params) ? params : {} }
}
