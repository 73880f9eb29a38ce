import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { portOf } from '../../../src/emulator/gateway.ts'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

/** `status`, headers and body of an answer; `cut` breaks the connection instead. */
export type Reply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | 'cut'

/** Answers as the provider would, one reply after the other; the last one for all that come after. */
export async function withProvider(
  replies: readonly Reply[],
  body: (url: string, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers })
    answer(replies[Math.min(seen.length, replies.length) - 1] ?? 'cut', request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await body(`http://127.0.0.1:${portOf(server)}/api`, seen)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

function answer(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply === 'cut') {
    request.socket.resetAndDestroy()
    return
  }
  const { status, headers = {}, body } = reply
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body ?? {}))
}
