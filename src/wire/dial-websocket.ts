import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { CancelTimer, Clock } from '../clock.ts'
import type { WebSocketAddress } from './address.ts'
import { badWebSocketAddress, dialFailed, tokenRefused } from './errors.ts'
import type { Limit } from './limit.ts'
import { WEBSOCKET_OPTIONS, WebSocketStream } from './websocket-stream.ts'

/** Proxies cut connections on which nothing was said for a minute, and an agent's shell waits longer for its model. */
const PING_MS = 25_000

/**
 * An open WebSocket as a stream, pinged every 25 s so that no proxy takes it for idle. Rejects with `dial-failed` when the upgrade is refused, since a
 * proxy answers so while nothing listens behind it yet; with `token-refused` (not to be tried again) where it wants another token; with
 * `bad-websocket-address`, or with the limit's reason.
 */
export async function dialWebSocket(address: WebSocketAddress, limit: Limit, maxFrameBytes: number): Promise<Duplex> {
  const websocket = open(address, maxFrameBytes)
  let stream: WebSocketStream | undefined
  const opened = new Promise<Duplex>((resolve, reject) => {
    const fail = (error: Error) => reject(dialFailed(address, error))
    websocket.on('error', fail)
    websocket.once('unexpected-response', (_request, response) => {
      reject(refusal(address, response))
      websocket.terminate()
    })
    websocket.once('open', () => {
      websocket.off('error', fail)
      keepAlive(websocket, limit.clock)
      // Here and not where it is awaited: what the peer sends at once must find its reader.
      stream = new WebSocketStream(websocket)
      resolve(stream)
    })
  })
  return await limit.race(opened, () => {
    if (stream === undefined) websocket.terminate()
    else stream.on('error', ignoreAfterCut).destroy()
  })
}

function open(address: WebSocketAddress, maxFrameBytes: number): WebSocket {
  if (!URL.canParse(address.url) || !/^wss?:/.test(new URL(address.url).protocol))
    throw badWebSocketAddress(address, 'it is not a ws:// or wss:// URL')
  try {
    // A peer may put a line and its newline, or several lines, in one message.
    return new WebSocket(address.url, {
      ...WEBSOCKET_OPTIONS,
      headers: { ...address.headers },
      maxPayload: maxFrameBytes + 1,
    })
  } catch (error) {
    throw badWebSocketAddress(address, error instanceof Error ? error.message : String(error))
  }
}

function keepAlive(websocket: WebSocket, clock: Clock): void {
  let cancel: CancelTimer
  const schedule = () => {
    cancel = clock.after(PING_MS, () => {
      if (websocket.readyState !== WebSocket.OPEN) return
      websocket.ping(ignoreAfterCut)
      schedule()
    })
  }
  schedule()
  websocket.once('close', () => cancel())
}

function refusal(address: WebSocketAddress, { statusCode = 0, statusMessage }: IncomingMessage): Error {
  // A preview sends one who has no valid token to a page to log in.
  if (statusCode === 401 || statusCode === 403 || (statusCode >= 300 && statusCode < 400))
    return tokenRefused(address, statusCode)
  return dialFailed(
    address,
    new Error(`the upgrade to a WebSocket was answered with ${statusCode} ${statusMessage ?? ''}`.trimEnd()),
  )
}

/** Nobody waits for this stream any more. */
function ignoreAfterCut(): void {}
