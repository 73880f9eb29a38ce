import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { Clock } from '../clock.ts'
import { MESSAGE_BYTES, WEBSOCKET_OPTIONS, WebSocketStream } from '../wire/websocket-stream.ts'

/** What an HTTP request begins with that asks for a WebSocket. A line of JSON-RPC begins otherwise. */
const HTTP_START = Buffer.from('GET ')
/** How long a peer that has begun a request may take until it has a WebSocket. */
const UPGRADE_MS = 10_000

export interface DoorOptions {
  readonly clock: Clock
  /** The longest frame read. A message may hold one with its newline. */
  readonly maxFrameBytes: number
  /** The longest WebSocket message read, where that is not to be as long as a frame. */
  readonly maxMessageBytes?: number
  /** Each connection's stream of frames, bare or out of a WebSocket's messages, with the socket that carries it. */
  readonly onStream: (stream: Duplex, socket: Duplex) => void
}

/** Takes in the connections of one port, on which bare lines and WebSockets (any path) are both spoken: the first bytes decide. Nothing to close. */
export function makeDoor({ clock, maxFrameBytes, maxMessageBytes, onStream }: DoorOptions): (socket: Socket) => void {
  // Never listens: it is handed the sockets that turn out to speak HTTP.
  const http = createServer(refusePlainRequest)
  const maxPayload = maxMessageBytes ?? Math.max(maxFrameBytes + 1, MESSAGE_BYTES)
  let opened: Promise<WebSocketServer> | undefined
  /** With the first request: most hosts hear bare lines alone, and the module is a quarter of their start. */
  const open = async () => {
    const ws = await import('ws')
    return new ws.WebSocketServer({ ...WEBSOCKET_OPTIONS, noServer: true, clientTracking: false, maxPayload })
  }
  const pending = new WeakMap<Duplex, () => void>()
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Nobody else listens until the WebSocket is there, and `close` follows.
    socket.on('error', ignoreBroken)
    opened ??= open()
    opened.then(
      websockets =>
        websockets.handleUpgrade(request, socket, head, websocket => {
          pending.get(socket)?.()
          onStream(new WebSocketStream(websocket), socket)
        }),
      error => socket.destroy(error),
    )
  })

  return socket => {
    readStart(socket, isHttp => {
      if (!isHttp) return onStream(socket, socket)
      const cancel = clock.after(UPGRADE_MS, () => socket.destroy())
      pending.set(socket, cancel)
      socket.once('close', cancel)
      http.emit('connection', socket)
    })
  }
}

/** Calls back once it is known what the peer speaks, and then gives the bytes read so far to whoever reads the socket from there on. */
function readStart(socket: Socket, decide: (isHttp: boolean) => void): void {
  let start: Buffer = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    start = start.length === 0 ? chunk : Buffer.concat([start, chunk])
    const known = Math.min(start.length, HTTP_START.length)
    const isHttp = HTTP_START.compare(start, 0, known, 0, known) === 0
    if (isHttp && known < HTTP_START.length) return
    socket.off('data', onData).off('end', onEnd).off('error', ignoreBroken)
    decide(isHttp)
    socket.unshift(start)
  }
  const onEnd = () => socket.end()
  socket.on('data', onData).on('end', onEnd).on('error', ignoreBroken)
}

function refusePlainRequest(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(426, { Upgrade: 'websocket', Connection: 'Upgrade, close', 'Content-Type': 'text/plain' })
  response.end('This is a control channel: open a WebSocket here, or speak its lines over TCP.\n')
}

/** `close` follows; nothing had been begun. */
function ignoreBroken(): void {}
