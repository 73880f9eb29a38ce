import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type CancelTimer, type Clock, systemClock } from '../clock.ts'
import type { SandboxRecord, SandboxState } from './sandbox.ts'

export interface EventFeedOptions {
  readonly apiKey: string
  readonly toDto: (record: SandboxRecord) => Readonly<Record<string, unknown>>
  readonly clock?: Clock
}

const PING_INTERVAL_MS = 25_000
const PING_TIMEOUT_MS = 20_000
const MAX_PAYLOAD_BYTES = 1_000_000

/** The provider's feed of events: socket.io over WebSocket, no polling, one namespace. */
export function makeEventFeed({ apiKey, toDto, clock = systemClock }: EventFeedOptions) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD_BYTES })
  const subscribers = new Set<WebSocket>()

  function serve(socket: WebSocket): void {
    let cancel: CancelTimer = () => {}
    const ping = () => {
      socket.send('2')
      cancel = clock.after(PING_TIMEOUT_MS, () => socket.terminate())
    }
    const pause = () => {
      cancel()
      cancel = clock.after(PING_INTERVAL_MS, ping)
    }
    socket.on('message', data => {
      const text = textOf(data)
      if (text === '3') pause()
      else if (text === '1' || text === '41') socket.close()
      else if (text.startsWith('40')) join(socket, text.slice(2))
    })
    socket.on('error', () => socket.terminate()) // a frame that is none: `close` follows
    socket.on('close', () => {
      cancel()
      subscribers.delete(socket)
    })
    const handshake = { pingInterval: PING_INTERVAL_MS, pingTimeout: PING_TIMEOUT_MS, maxPayload: MAX_PAYLOAD_BYTES }
    socket.send(`0${JSON.stringify({ sid: randomUUID(), upgrades: [], ...handshake })}`)
    pause()
  }

  function join(socket: WebSocket, auth: string): void {
    if (tokenOf(auth) !== apiKey) {
      socket.send('44{"message":"Unauthorized"}')
      socket.close()
      return
    }
    subscribers.add(socket)
    socket.send(`40${JSON.stringify({ sid: randomUUID() })}`)
  }

  function emit(name: string, toPayload: () => unknown): void {
    if (subscribers.size === 0) return
    const frame = `42${JSON.stringify([name, toPayload()])}`
    for (const socket of subscribers) socket.send(frame)
  }

  return {
    accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      sockets.handleUpgrade(request, socket, head, serve)
    },
    created: (record: SandboxRecord) => emit('sandbox.created', () => toDto(record)),
    changed(record: SandboxRecord, oldState: SandboxState): void {
      emit('sandbox.state.updated', () => ({ sandbox: toDto(record), oldState, newState: record.state }))
    },
    close(): void {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8')
}

function tokenOf(auth: string): unknown {
  try {
    const value: unknown = JSON.parse(auth)
    return typeof value === 'object' && value !== null && 'token' in value ? value.token : undefined
  } catch {
    return undefined // no JSON: no token
  }
}

export type EventFeed = ReturnType<typeof makeEventFeed>
