import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import type { Clock } from '../../../clock.ts'
import { gatewayLost, gatewayRefused, nothingListens, OPENING_OVER } from './errors.ts'
import type { GatewayAccess } from './gateway-address.ts'

/** One SSH connection to the gateway. */
export interface GatewayLink {
  /** Aborts, with `gateway-lost`, `gateway-refused` or `opening-over` (closed here), once nothing can be opened over it any more. */
  readonly over: AbortSignal
  /** A connection to 127.0.0.1:`port` of the sandbox. Rejects with `nothing-listens`, or with the reason of `over`. */
  forward(port: number): Promise<Duplex>
  close(): void
}

const HANDSHAKE_MS = 20_000
/** A gateway that answers nothing for four of these is taken for dead. Its "no such request" is an answer. */
const KEEPALIVE_MS = 15_000

/**
 * Connects and shakes hands. The socket is made here, because ssh2 leaves Nagle's delay on its own: 80 ms a handshake instead of 2. The gateway's host key is
 * accepted unseen, since the provider publishes none: the name's owner is trusted, and what is secret (the token) is good for one sandbox only.
 * The provider's gateway lets everybody shake hands and hangs up on bad tokens afterwards, so that only a first channel shows that one is let in.
 * Rejects with `gateway-lost`, `gateway-refused` or the signal's reason.
 */
export function dialGateway(access: GatewayAccess, clock: Clock, signal: AbortSignal): Promise<GatewayLink> {
  const name = `${access.host}:${access.port}`
  const client = new ssh2.Client()
  const over = new AbortController()
  let proven = false
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const socket: Socket = connect({ host: access.host, port: access.port, noDelay: true })
    const end = (reason: unknown) => {
      cancel()
      signal.removeEventListener('abort', onAbort)
      over.abort(reason)
      reject(reason)
      client.destroy()
      socket.destroy()
    }
    const onAbort = () => end(signal.reason)
    const late = () => end(gatewayLost(name, `no handshake within ${HANDSHAKE_MS} ms`))
    const cancel = clock.after(HANDSHAKE_MS, late)
    signal.addEventListener('abort', onAbort, { once: true })
    let shaken = false
    client.on('error', error => {
      const refused = 'level' in error && error.level === 'client-authentication'
      end(refused ? gatewayRefused(name) : gatewayLost(name, error.message, error))
    })
    client.once('close', () => end(shaken && !proven ? gatewayRefused(name) : gatewayLost(name, 'it was cut')))
    socket.on('error', error => end(gatewayLost(name, error.message, error)))
    client.once('ready', () => {
      shaken = true
      cancel()
      resolve({ over: over.signal, forward, close: () => end(OPENING_OVER) })
    })
    client.connect({
      sock: socket,
      username: access.token,
      readyTimeout: 0,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: 3,
    })
  })

  function forward(port: number): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      over.signal.throwIfAborted()
      client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, channel) => {
        // A refusal by the sandbox has a reason, what ends with the connection has none.
        const answered = error === undefined || ('reason' in error && typeof error.reason === 'number')
        if (answered) proven = true
        if (error === undefined) resolve(channel)
        // The connection's own end, which comes first or right after, knows why.
        else if (!answered) setImmediate(() => reject(over.signal.reason ?? gatewayLost(name, error.message, error)))
        else reject(nothingListens(port, error.message))
      })
    })
  }
}
