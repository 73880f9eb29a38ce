/** What can go wrong on a control channel, in words. */
import { TroupeError } from '../errors.ts'
import { type Address, formatAddress } from './address.ts'
import { RPC, type RpcRefusal } from './json-rpc.ts'

export function frameTooLarge(what: string, bytes: number, limitBytes: number): TroupeError {
  return new TroupeError({
    tag: 'frame-too-large',
    message: `${what} is a frame of ${bytes} bytes and the peer reads at most ${limitBytes}. Send less inline: pass large data as a file or by reference and load it inside the environment.`,
    details: { what, bytes, limitBytes },
  })
}

export function notSendable(what: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    { tag: 'not-json', message: `${what} cannot be written as JSON: ${why}. Use plain data only.` },
    cause,
  )
}

export function connectTimeout(address: Address, deadlineMs: number, tries: number, last: unknown): TroupeError {
  const place = formatAddress(address)
  const why = last instanceof Error ? ` The last try: ${last.message}` : ' It accepted, but did not answer the hello.'
  return new TroupeError(
    {
      tag: 'connect-timeout',
      message: `nothing served the control channel at ${place} within ${deadlineMs} ms (${tries} tries).${why} See whether the environment started, or allow it more time.`,
      address: place,
      details: { deadlineMs, tries },
      transient: true,
    },
    last,
  )
}

/** The connection could not be made, this time. */
export function dialFailed(address: Address, cause: unknown): TroupeError {
  const place = formatAddress(address)
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    { tag: 'dial-failed', message: `no connection to ${place}: ${why}.`, address: place, transient: true },
    cause,
  )
}

/** The proxy before the environment lets nobody in with these headers, now or later. */
export function tokenRefused(address: Address, status: number): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'token-refused',
    message: `the token for ${place} was refused (HTTP ${status}). It is missing, wrong or has expired, or the sandbox was replaced: ask the provider for the address and its token again.`,
    address: place,
    details: { status },
  })
}

/** In the data of the refusal by which a server of ours wants a token, or another one. */
export const TOKEN_REFUSED = 'token-refused'

/** The environment's own server lets nobody in without its token. */
function serverTokenRefused(address: Address): TroupeError {
  const place = formatAddress(address)
  const given = address.token === undefined ? 'and was given none' : 'and was given another'
  return new TroupeError({
    tag: TOKEN_REFUSED,
    message: `the environment at ${place} wants a token ${given}. Set TROUPE_SERVE_TOKEN to the one it was started with; who serves it knows it.`,
    address: place,
  })
}

export function badWebSocketAddress(address: Address, why: string): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'bad-websocket-address',
    message: `no WebSocket can be opened to ${place}: ${why}. Give the ws:// or wss:// URL under which the environment's port is reached.`,
    address: place,
  })
}

export function sessionLost(address: Address, why: string, cause?: unknown): TroupeError {
  const place = formatAddress(address)
  return new TroupeError(
    {
      tag: 'session-lost',
      message: `the session at ${place} is gone: ${why}. A task in progress may be parked there; resume it by its session id, or start again.`,
      address: place,
      transient: true,
    },
    cause,
  )
}

export function protocolError(address: Address, detail: string): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'protocol-error',
    message: `${place} does not speak the control channel's protocol: ${detail}. The connection was cut; check that an environment is served there.`,
    address: place,
  })
}

export function badReply(address: Address, method: string, detail: string): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'bad-reply',
    message: `${place} answered ${method} ${detail}. Mend the environment that is served there.`,
    address: place,
    details: { method },
  })
}

export function remoteError(address: Address, method: string, refusal: RpcRefusal): TroupeError {
  if (refusal.data?.tag === TOKEN_REFUSED) return serverTokenRefused(address)
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'remote-error',
    message: `${method} at ${place}: ${refusal.message === '' ? 'refused without a reason' : refusal.message} (${meaning(refusal.code)})`,
    address: place,
    details: { code: refusal.code, method, text: refusal.message, ...refusal.data },
    ...(refusal.data?.transient === true ? { transient: true } : {}),
  })
}

export function parkUnsupported(address: Address): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'park-unsupported',
    message: `${place} keeps only sessions with a task in progress, and this one has none. Start a task first, or keep the session open.`,
    address: place,
  })
}

export function tunnelFailed(address: Address, capability: string, cause: unknown): TroupeError {
  const place = formatAddress(address)
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'tunnel-failed',
      message: `no stream to the capability "${capability}" at ${place}: ${why}`,
      address: place,
      details: { capability },
      transient: true,
    },
    cause,
  )
}

export function clientClosed(address: Address): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'client-closed',
    message: `no session at ${place}: this control client has been closed. Make a new one.`,
    address: place,
  })
}

function meaning(code: number): string {
  switch (code) {
    case RPC.invalidParams:
      return 'its parameters were refused'
    case RPC.invalidRequest:
      return 'not possible now'
    case RPC.methodNotFound:
      return 'the peer has no such method'
    case RPC.failed:
      return 'the environment failed'
    default:
      return `error ${code}`
  }
}
