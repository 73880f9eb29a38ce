/** What the control channel's server answers when it cannot do what it was asked, and why it cannot listen. */
import { type ErrorData, TroupeError } from '../errors.ts'
import { type Address, formatAddress } from '../wire/address.ts'
import { TOKEN_REFUSED } from '../wire/errors.ts'
import { RPC, RpcRefusal } from '../wire/json-rpc.ts'

export const refuse = {
  sessionIdNotText: () => new RpcRefusal(RPC.invalidParams, "hello: 'session_id' must be a string"),
  sessionLive: (id: string) => new RpcRefusal(RPC.invalidRequest, `session '${id}' has a live connection`),
  unknownSession: (id: string) => new RpcRefusal(RPC.invalidRequest, `unknown session: '${id}'`),
  notOffered: (what: string) =>
    new RpcRefusal(RPC.failed, `hello: this environment's workspaces have no '${what}'; leave them out`),
  taskIdNotText: () => new RpcRefusal(RPC.invalidParams, "tasks.start: 'id' must be a string"),
  argsNotObject: () => new RpcRefusal(RPC.invalidParams, "tasks.start: 'args' must be an object"),
  badTask: (problems: readonly string[]) => new RpcRefusal(RPC.invalidParams, problems.join('; ')),
  noTask: () => new RpcRefusal(RPC.invalidRequest, 'no task in progress'),
  manyParked: (ids: readonly string[]) =>
    new RpcRefusal(
      RPC.invalidRequest,
      `${ids.length} parked sessions (${ids.join(', ')}); resume one by sending hello with its session_id`,
    ),
  stillRunning: (method: string) => new RpcRefusal(RPC.invalidRequest, `${method}: a task call is still running`),
  noSession: (method: string) => new RpcRefusal(RPC.invalidRequest, `${method}: this connection has no session`),
  noChannels: () => new RpcRefusal(RPC.invalidRequest, "'ch': this connection was not agreed to be shared"),
  unknownMethod: (method: string) => new RpcRefusal(RPC.methodNotFound, `method not found: ${method}`),
  interrupted: (method: string) => new RpcRefusal(RPC.failed, `${method} interrupted the task`),
  capabilityNotText: () => new RpcRefusal(RPC.invalidParams, "tunnel.open: 'capability' must be a string"),
  tooManySessions: (limit: number) => full('too-many-sessions', `this server holds ${limit} sessions at most`),
  tooManyChannels: (limit: number) => full('too-many-channels', `this connection carries ${limit} sessions at most`),
  tooManyConnections: (limit: number) => full('too-many-connections', `this server holds ${limit} connections at most`),
  /** HUD's clients show the text, ours go by the tag. */
  token: () =>
    new RpcRefusal(
      RPC.invalidRequest,
      'this server wants a token: set TROUPE_SERVE_TOKEN to the one it was started with',
      {
        tag: TOKEN_REFUSED,
      },
    ),
  closing: () => full('server-closing', 'this server is closing'),
}

/** Whatever went wrong, as the answer to a call. */
export function toRefusal(thrown: unknown): RpcRefusal {
  if (thrown instanceof RpcRefusal) return thrown
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  return new RpcRefusal(RPC.failed, text)
}

/** Nothing was opened: whoever could reach the port could use the environment. */
export function tokenWanted(address: Address): TroupeError {
  const place = formatAddress(address)
  return new TroupeError({
    tag: 'token-wanted',
    message: `${place} can be reached from other machines, and nothing says who may. Give a token, in a file named with --token-file or in the variable TROUPE_SERVE_TOKEN; or say --insecure to let everybody in. HUD's own clients send none: serve them with --insecure.`,
    address: place,
  })
}

export function listenFailed(address: Address, cause: unknown): TroupeError {
  const place = formatAddress(address)
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const why = cause instanceof Error ? cause.message : String(cause)
  const known: Partial<Record<string, readonly [tag: string, message: string]>> = {
    EADDRINUSE: [
      'port-in-use',
      address.kind === 'tcp'
        ? `port ${address.port} on ${address.host} is in use. Stop what listens there, choose another port, or 0 for any free one.`
        : `the socket ${place} exists. If nothing serves it any more, remove the file; otherwise choose another path.`,
    ],
    EACCES: ['port-not-allowed', `listening on ${place} is not allowed. Choose a port above 1023 or another path.`],
    EADDRNOTAVAIL: ['no-such-host', `${place} is no address of this machine. Listen on 127.0.0.1 or 0.0.0.0.`],
  }
  const [tag, message] = known[String(code)] ?? ['listen-failed', `listening on ${place} failed: ${why}.`]
  return new TroupeError({ tag, message, address: place }, cause)
}

export function acceptFailed(address: Address, cause: Error): ErrorData {
  const place = formatAddress(address)
  return {
    tag: 'accept-failed',
    message: `a connection to ${place} could not be accepted: ${cause.message}. Raise the limit of open files (ulimit -n), or run less at once.`,
    address: place,
  }
}

export function sessionNotClosed(sessionId: string, cause: unknown): ErrorData {
  const why = cause instanceof Error ? cause.message : String(cause)
  return {
    tag: 'session-not-closed',
    message: `session ${sessionId} was not closed cleanly: ${why}. Its workspace or processes may be left over.`,
    address: sessionId,
  }
}

function full(tag: string, text: string): RpcRefusal {
  return new RpcRefusal(RPC.failed, `${text}; try again later`, { tag, transient: true })
}
