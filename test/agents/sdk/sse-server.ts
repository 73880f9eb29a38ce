import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request as it came. */
export interface SseRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

/** One event of a stream, as the wire has it. Data given as text goes out as it is. */
export interface SseEvent {
  readonly event: string
  readonly data: unknown
}

export type SseStep =
  /** `cut` breaks the connection after the events, `early` ends the stream in order, `silence` says nothing more. */
  | { readonly events: readonly SseEvent[]; readonly end?: 'cut' | 'early' | 'silence' }
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

export type SseScript = readonly SseStep[] | ((request: SseRequest, index: number) => SseStep)

export interface SseServer {
  readonly url: string
  readonly requests: readonly SseRequest[]
  /** Connections accepted so far. */
  readonly connections: number
  /** Says more in the reply that came last. */
  push(text: string, end?: 'end'): void
  script: SseScript
  close(): Promise<void>
}

/** A service on loopback that streams what it is told to. A list is answered in its order; past its end the last one is repeated. Close it. */
export async function startSseServer(script: SseScript): Promise<SseServer> {
  const requests: SseRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let last: ServerResponse | undefined
  const server = createServer(async (incoming, response) => {
    const body = JSON.parse(await text(incoming))
    const request: SseRequest = { path: incoming.url ?? '', headers: incoming.headers, body }
    const index = requests.push(request) - 1
    const { script } = service
    last = response
    answer(response, typeof script === 'function' ? script(request, index) : script[Math.min(index, script.length - 1)])
  })
  server.on('connection', socket => {
    connections += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service: SseServer = {
    url: `http://127.0.0.1:${port}`,
    requests,
    script,
    get connections() {
      return connections
    },
    push(more, end) {
      last?.write(more)
      if (end === 'end') last?.end()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return service
}

function answer(response: ServerResponse, step: SseStep = { status: 500 }): void {
  if ('status' in step) {
    response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers })
    return void response.end(JSON.stringify(step.body ?? { error: { message: `status ${step.status}` } }))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(toWire(step.events), () => {
    if (step.end === 'cut') response.destroy()
    else if (step.end !== 'silence') response.end()
  })
}

/** Events as they go over the wire. */
export function toWire(events: readonly SseEvent[]): string {
  const lines = events.map(({ event, data }) => {
    const shown = typeof data === 'string' ? data : JSON.stringify(data)
    return `event: ${event}\ndata: ${shown}\n\n`
  })
  return lines.join('')
}
