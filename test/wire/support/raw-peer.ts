import { connect, createServer, type Server, type Socket } from 'node:net'
import type { ListenAddress } from '../../../src/wire/address.ts'
import { FrameReader, MAX_FRAME_BYTES } from '../../../src/wire/frame.ts'
import type { JsonObject } from '../../../src/wire/json-rpc.ts'

/** A client as another project might write one: lines of JSON on a socket. */
export interface RawPeer {
  readonly socket: Socket
  send(message: JsonObject): void
  /** The next message; undefined once the other end has closed. */
  next(): Promise<JsonObject | undefined>
  call(method: string, params?: unknown): Promise<JsonObject | undefined>
  close(): Promise<void>
}

export async function dialRaw(address: ListenAddress): Promise<RawPeer> {
  const socket =
    address.kind === 'tcp'
      ? connect({ host: address.host, port: address.port, allowHalfOpen: true })
      : connect({ path: address.path, allowHalfOpen: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return toRawPeer(socket)
}

export function toRawPeer(socket: Socket): RawPeer {
  const reader = new FrameReader(MAX_FRAME_BYTES)
  const messages: (JsonObject | undefined)[] = []
  const waiting: ((message: JsonObject | undefined) => void)[] = []
  const deliver = (message: JsonObject | undefined) => {
    const next = waiting.shift()
    if (next === undefined) messages.push(message)
    else next(message)
  }
  let ended = false
  const finish = () => {
    if (ended) return
    ended = true
    deliver(undefined)
  }
  socket.on('error', () => {})
  socket.on('end', finish)
  socket.on('close', finish)
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk)
    for (let read = reader.next(); read !== undefined; read = reader.next())
      if (read.kind === 'frame') deliver(read.message)
  })
  let id = 0
  const peer: RawPeer = {
    socket,
    send: message => void socket.write(`${JSON.stringify(message)}\n`),
    next: () => new Promise(resolve => (messages.length > 0 ? resolve(messages.shift()) : waiting.push(resolve))),
    call(method, params) {
      id += 1
      peer.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
      return peer.next()
    },
    close: () =>
      new Promise(resolve => {
        if (socket.closed) return resolve()
        socket.once('close', () => resolve())
        socket.destroy()
      }),
  }
  return peer
}

export interface RawServer {
  readonly address: ListenAddress
  close(): Promise<void>
}

/** A server that is not ours: what it says on each connection is the test's. */
export async function serveRaw(onConnection: (peer: RawPeer) => void): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    onConnection(toRawPeer(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (typeof bound !== 'object' || bound === null) throw new Error('no port')
  return {
    address: { kind: 'tcp', host: '127.0.0.1', port: bound.port },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export function errorOf(message: JsonObject | undefined): { code: unknown; message: string } {
  const error = message?.error
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error))
    throw new Error(`no error: ${JSON.stringify(message)}`)
  return { code: error.code, message: String(error.message) }
}
