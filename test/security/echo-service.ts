import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

export interface EchoService {
  readonly port: number
  /** What was sent as `Authorization`, so far. */
  readonly keys: ReadonlySet<string>
  close(): Promise<void>
}

/** A service that refuses everything and, as some proxies do, says back in its refusal all that it was sent: headers, address and body. */
export async function startEchoService(status: number): Promise<EchoService> {
  const keys = new Set<string>()
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    keys.add(request.headers.authorization ?? '')
    const message = await describe(request)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message, error: { message } }))
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    keys,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function describe(request: IncomingMessage): Promise<string> {
  const { authorization, ...headers } = request.headers
  return `you sent ${authorization} to ${request.url} with ${JSON.stringify(headers)} and ${(await text(request)).slice(0, 200)}`
}
