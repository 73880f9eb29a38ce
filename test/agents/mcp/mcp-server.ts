import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** What a call does: a result of the tool, an error of the protocol, or a connection that is cut. */
export type McpAnswer =
  | { readonly content: readonly unknown[]; readonly isError?: true }
  | { readonly error: { readonly code: number; readonly message: string } }
  | 'cut'
  | 'silence'

export interface McpServer {
  readonly url: string
  readonly port: number
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[]
  readonly headers: readonly IncomingHttpHeaders[]
  readonly open: number
  close(): Promise<void>
}

/**
 * An MCP server on loopback by its streamable HTTP, in the shapes of the protocol: replies as JSON or as `events`; `sse`: by the older
 * transport, whose replies all come on one stream. Close it.
 */
export async function startMcpServer(
  tools: readonly { readonly name: string; readonly [key: string]: unknown }[],
  answer: (name: string, given: Readonly<Record<string, unknown>>) => McpAnswer,
  options: { readonly replies?: 'json' | 'events' | 'sse'; readonly pageSize?: number } = {},
): Promise<McpServer> {
  const calls: { name: string; arguments: unknown }[] = []
  const headers: IncomingHttpHeaders[] = []
  const sockets = new Set<Socket>()
  const { pageSize = 100, replies = 'json' } = options
  let stream: ServerResponse | undefined

  function act(method: string, params: Readonly<Record<string, unknown>>): object | 'cut' | 'silence' {
    switch (method) {
      case 'initialize':
        return {
          result: {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'fake', version: '1' },
          },
        }
      case 'tools/list': {
        const from = Number(params.cursor ?? 0)
        const more = from + pageSize < tools.length ? { nextCursor: String(from + pageSize) } : {}
        return { result: { tools: tools.slice(from, from + pageSize), ...more } }
      }
      case 'tools/call': {
        const given = (params.arguments ?? {}) as Record<string, unknown>
        calls.push({ name: String(params.name), arguments: given })
        const said = answer(String(params.name), given)
        if (typeof said === 'string' || 'error' in said) return said
        return { result: said }
      }
      default:
        return { error: { code: -32_601, message: `no method ${method}` } }
    }
  }

  function reply(response: ServerResponse, message: object): void {
    if (replies === 'sse') {
      stream?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
      response.writeHead(202).end()
    } else if (replies === 'events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
    } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
  }

  const server = createServer(async (incoming, response) => {
    headers.push(incoming.headers)
    if (incoming.method === 'GET' && replies === 'sse') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void stream.write('event: endpoint\ndata: /messages\n\n')
    }
    if (incoming.method !== 'POST') return void response.writeHead(405).end()
    const request = JSON.parse(await text(incoming))
    if (request.id === undefined) return void response.writeHead(202).end()
    const said = act(request.method, request.params ?? {})
    if (said === 'cut') response.destroy()
    else if (said !== 'silence') reply(response, { jsonrpc: '2.0', id: request.id, ...said })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    calls,
    headers,
    get open() {
      return sockets.size
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
