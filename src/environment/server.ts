import { createServer, type Server, type Socket } from 'node:net'
import { settleWithin } from '../bounded.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import { type IdSource, randomIds } from '../ids.ts'
import type { ListenAddress } from '../wire/address.ts'
import { MAX_FOREIGN_FRAME_BYTES, MAX_FRAME_BYTES } from '../wire/frame.ts'
import { errorText } from '../wire/json-rpc.ts'
import { isLoopbackHost } from '../wire/loopback.ts'
import { MESSAGE_BYTES } from '../wire/websocket-stream.ts'
import type { ServedEnvironment } from './served.ts'
import { ServerConnection } from './server-connection.ts'
import { acceptFailed, listenFailed, refuse, tokenWanted } from './server-errors.ts'
import { MAX_STRANGERS, makeGate } from './server-gate.ts'
import { makeDoor } from './server-upgrade.ts'
import type { SessionTracer } from './session-tracer.ts'
import { SessionTable } from './sessions.ts'
import { warn } from './warn.ts'

/** Connections the kernel keeps for us while we are busy; it lowers this to its own limit. */
const BACKLOG = 4_096
const REFUSED_LINGER_MS = 2_000

export interface ServeOptions {
  /** Port 0 is any free one. */
  readonly listen: ListenAddress
  /** What a connection must show in its first frame. */
  readonly token?: string
  /** Listen beyond loopback without a token: whoever reaches the port may do everything. */
  readonly insecure?: boolean
  readonly clock?: Clock
  readonly ids?: IdSource
  /** The longest frame read, and written to peers that are ours. Default 16 MiB; a longer line is answered with an error, and closes. */
  readonly maxFrameBytes?: number
  /** The longest frame written to other peers. Default 16 MiB, which is what HUD's client reads; its older releases hang up at 64 KiB. */
  readonly foreignFrameBytes?: number
  /** Further connections are told so and closed. Default 16,384. */
  readonly maxConnections?: number
  /** Connections at once that have not shown the token; the oldest is cut for the next. Default 1,024. */
  readonly maxStrangers?: number
  /** Further sessions are refused with -32000. Parked ones count. Default 16,384. */
  readonly maxSessions?: number
  /** How long the closing of one session is waited for. Default 30 s. */
  readonly sessionCloseMs?: number
  /** Told of what no peer can be told: a session not closed cleanly, a connection not accepted. Default: a process warning. */
  readonly onError?: (error: ErrorData) => void
  /** Draws what is asked for, where the asker says what that is part of. Its owner's to close. Default: nothing is drawn. */
  readonly tracer?: SessionTracer
}

export interface ControlServer {
  /** Where it listens, with the port that the system chose. */
  readonly address: ListenAddress
  /** Sessions live, parked and on their way in or out. */
  sessionCount(): number
  /** Stops accepting, cuts connections and closes sessions, in bounded time. The environment stays its owner's to close. Safe to call twice. */
  close(): Promise<void>
}

/**
 * Serves an environment on a control channel: bare lines and WebSockets on the one port. Rejects with `token-wanted` beyond loopback, where neither a
 * token is given nor `insecure` said; with `port-in-use`, `port-not-allowed`, `no-such-host` or `listen-failed`.
 */
export async function serveControl(environment: ServedEnvironment, options: ServeOptions): Promise<ControlServer> {
  const { listen: place, token } = options
  if (isExposed(place) && token === undefined && options.insecure !== true) throw tokenWanted(place)
  const clock = options.clock ?? systemClock
  const maxConnections = options.maxConnections ?? 16_384
  const onError = options.onError ?? warn
  const sessionCloseMs = options.sessionCloseMs ?? 30_000
  const sessions = new SessionTable({
    environment,
    clock,
    ids: options.ids ?? randomIds,
    maxSessions: options.maxSessions ?? 16_384,
    closeMs: sessionCloseMs,
    onError,
  })
  const ports = {
    environment,
    sessions,
    clock,
    tracer: options.tracer,
    maxFrameBytes: options.maxFrameBytes ?? MAX_FRAME_BYTES,
    foreignFrameBytes: options.foreignFrameBytes ?? MAX_FOREIGN_FRAME_BYTES,
  }
  const gate =
    token === undefined ? undefined : makeGate({ token, clock, maxStrangers: options.maxStrangers ?? MAX_STRANGERS })
  const enter = makeDoor({
    clock,
    maxFrameBytes: ports.maxFrameBytes,
    // A message is held whole before a frame of it is seen. Only our own clients have tokens, and none of them sends longer ones.
    ...(gate === undefined ? {} : { maxMessageBytes: MESSAGE_BYTES }),
    onStream: (stream, socket) => {
      const opens = gate === undefined ? undefined : (shown: string | undefined) => gate.opens(socket, shown)
      void new ServerConnection(stream, ports, opens)
    },
  })
  const sockets = new Set<Socket>()
  // Half-open is allowed: a client may have said all it has to say, and a tunnel ends one direction at a time.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (sockets.size > maxConnections) {
      turnAway(socket, clock, maxConnections)
      return
    }
    gate?.watch(socket)
    enter(socket)
  })
  const address = await listen(server, place)
  server.on('error', error => onError(acceptFailed(address, error)))
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    const ended = sessions.close()
    for (const socket of sockets) socket.destroy()
    await settleWithin(clock, sessionCloseMs * 2, ended)
    await closed
  }

  return {
    address,
    sessionCount: () => sessions.size,
    close: () => (closing ??= close()),
  }
}

/** Whether other machines may reach it. */
export function isExposed(address: ListenAddress): boolean {
  return address.kind === 'tcp' && !isLoopbackHost(address.host)
}

function listen(server: Server, address: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(listenFailed(address, error))
    server.once('error', onError)
    const onListening = () => {
      server.off('error', onError)
      const bound = server.address()
      resolve(
        address.kind === 'tcp' && typeof bound === 'object' && bound !== null
          ? { ...address, port: bound.port }
          : address,
      )
    }
    const where = address.kind === 'tcp' ? { host: address.host, port: address.port } : { path: address.path }
    server.listen({ ...where, backlog: BACKLOG }, onListening)
  })
}

function turnAway(socket: Socket, clock: Clock, limit: number): void {
  const { code, message, data } = refuse.tooManyConnections(limit)
  const cancel = clock.after(REFUSED_LINGER_MS, () => socket.destroy())
  socket.once('close', cancel)
  socket.on('error', () => socket.destroy())
  socket.end(errorText(undefined, code, message, data))
  socket.resume()
}
