import { isObject, type JsonObject } from './json-rpc.ts'

/**
 * What two peers of this project agree on in `hello`, unseen by others: HUD's peers ignore the key. The client offers, the server grants
 * (only when asked), both under `troupe`. A granted connection reads frames up to our own limit, knows the methods below, and, where
 * `multiplex` was granted, carries further sessions: their requests have `ch`, a number the client chose, beside the JSON-RPC keys.
 * Replies need none, since ids are unique in a connection.
 *
 * A server that draws spans says so in its grant. The client may then say with each request of a session what that is part of: `troupe.traceparent` in its
 * params, a W3C `traceparent`. The `hello` itself, of which the grant is the answer, has it among the offer.
 *
 * A server may want a token: it is `troupe.token` in the params of a connection's first frame, whatever that frame asks. Until it has come, nothing else
 * is answered.
 */
export interface Offer {
  readonly version: 1
  readonly multiplex: boolean
  /** End the session, rather than park it, when its connection drops. */
  readonly ephemeral: boolean
}

export interface Grant {
  readonly version: 1
  readonly multiplex: boolean
  /** The longest frame the server reads. */
  readonly maxFrameBytes: number
  /** It draws spans. */
  readonly traces?: true
}

export const METHOD = {
  hello: 'hello',
  list: 'tasks.list',
  start: 'tasks.start',
  grade: 'tasks.grade',
  cancel: 'tasks.cancel',
  bye: 'bye',
  tunnel: 'tunnel.open',
  /** Ours: leaves the session parked, even an idle one, and gives the channel up. */
  park: 'session.park',
  /** Ours: ends the session `session_id`, parked or live on any connection. True too when there is none. */
  end: 'session.end',
  /** Ours: answered at once, whatever else runs. */
  ping: 'troupe.ping',
  /** Ours, a notification of the client: this channel hung up. */
  hangUp: 'channel.close',
  /** Ours, a notification of the server: this channel's session has ended. */
  cut: 'channel.closed',
} as const

/** Undefined for a peer that offers nothing, or a version not known here. */
export function parseOffer(value: unknown): Offer | undefined {
  if (!isObject(value) || value.version !== 1) return undefined
  return { version: 1, multiplex: value.multiplex === true, ephemeral: value.ephemeral === true }
}

export function parseGrant(value: unknown): Grant | undefined {
  if (!isObject(value) || value.version !== 1) return undefined
  const { maxFrameBytes, multiplex, traces } = value
  if (typeof maxFrameBytes !== 'number') return undefined
  return { version: 1, multiplex: multiplex === true, maxFrameBytes, ...(traces === true ? { traces } : {}) }
}

export function helloParams(
  sessionId: string | undefined,
  offer: Offer,
  { token, traceparent }: { readonly token?: string | undefined; readonly traceparent?: string | undefined },
): JsonObject {
  const troupe = {
    ...offer,
    ...(token === undefined ? {} : { token }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
  return sessionId === undefined ? { troupe } : { session_id: sessionId, troupe }
}

/** The same for a connection whose first frame is no `hello`. */
export function withToken(params: JsonObject, token: string | undefined): JsonObject {
  return token === undefined ? params : { ...params, troupe: { version: 1, token } }
}

/** The same for a request of a session, and what it is part of. */
export function withTraceparent(params: JsonObject, traceparent: string | undefined): JsonObject {
  return traceparent === undefined ? params : { ...params, troupe: { version: 1, traceparent } }
}

/** What a request is part of, as it says; to be parsed. */
export function findTraceparent(params: JsonObject): unknown {
  return isObject(params.troupe) ? params.troupe.traceparent : undefined
}

/** The token in the params of a first frame, whatever its method. */
export function parseToken(params: unknown): string | undefined {
  const troupe = isObject(params) ? params.troupe : undefined
  return isObject(troupe) && typeof troupe.token === 'string' ? troupe.token : undefined
}
