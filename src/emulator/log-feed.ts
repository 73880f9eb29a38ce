import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Site } from './site.ts'
import type { LogChunk } from './space.ts'
import { commandOf } from './toolbox-routes.ts'

const MARKS = { stdout: Buffer.from([1, 1, 1]), stderr: Buffer.from([2, 2, 2]) }

/** A command's log as it grows, over a WebSocket that closes with the command. */
export function makeLogFeed(site: Site) {
  const sockets = new WebSocketServer({ noServer: true })

  function follow(socket: WebSocket, path: RegExpExecArray): void {
    const [, id = '', session = '', command = ''] = path.map(part => decodeURIComponent(part))
    const found = commandOf(site, { id, session, command })
    const send = (chunk: LogChunk | undefined) => {
      if (chunk === undefined) socket.close(1000)
      else socket.send(Buffer.concat([MARKS[chunk.stream], chunk.bytes]))
    }
    for (const chunk of found.log) send(chunk)
    if (found.exitCode !== undefined) {
      send(undefined)
      return
    }
    found.followers.add(send)
    socket.on('close', () => found.followers.delete(send))
  }

  return {
    accept(request: IncomingMessage, peer: Duplex, head: Buffer): void {
      const { pathname } = new URL(request.url ?? '', 'http://emulator')
      const path = /^\/toolbox\/([^/]+)\/process\/session\/([^/]+)\/command\/([^/]+)\/logs$/.exec(pathname)
      if (path === null) return void peer.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      sockets.handleUpgrade(request, peer, head, socket => {
        socket.on('error', () => socket.terminate()) // `close` follows
        try {
          follow(socket, path)
        } catch (error) {
          socket.close(1008, error instanceof Error ? error.message.slice(0, 100) : '')
        }
      })
    },
    close(): void {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}
