import type { IncomingMessage, ServerResponse } from 'node:http'
import { request as ask } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Access } from './access.ts'
import { connectTo, join } from './ports.ts'
import type { SandboxRecord } from './sandbox.ts'
import type { Sandboxes } from './sandboxes.ts'

export const PREVIEW_PREFIX = '/preview/'
const TOKEN_HEADER = 'x-daytona-preview-token'
const TOKEN_QUERY = 'DAYTONA_SANDBOX_AUTH_KEY'

type Target =
  | { readonly ok: true; readonly record: SandboxRecord; readonly port: number; readonly path: string }
  | { readonly ok: false; readonly status: 400 | 401 | 404; readonly why: string }

/**
 * The preview proxy: `/preview/SANDBOX/PORT/path` with the sandbox's token in a header or the query, or `/preview/TOKEN/PORT/path`
 * with a signed one. The provider has a host name for each port; loopback has one name, so here it is a path.
 */
export function makePreview(sandboxes: Pick<Sandboxes, 'records'>, access: Access) {
  function find({ url = '', headers }: IncomingMessage): Target {
    const { pathname, searchParams } = new URL(url, 'http://emulator')
    const [, id = '', portText = '', rest = ''] = /^\/preview\/([^/]+)\/(\d+)(\/.*)?$/.exec(pathname) ?? []
    const signed = access.signedFor(id)
    const record = sandboxes.records.get(signed?.sandboxId ?? id)
    if (record === undefined) return { ok: false, status: 404, why: 'no such sandbox' }
    const port = Number(portText)
    const token = headers[TOKEN_HEADER] ?? searchParams.get(TOKEN_QUERY)
    if (signed === undefined ? token !== record.previewToken : signed.port !== port)
      return { ok: false, status: 401, why: 'the preview token is missing or wrong' }
    if (record.state !== 'started' || record.ports.get(port)?.served === undefined)
      return { ok: false, status: 400, why: `nothing answers on port ${port}` }
    searchParams.delete(TOKEN_QUERY)
    const query = searchParams.size === 0 ? '' : `?${searchParams}`
    return { ok: true, record, port, path: `${rest === '' ? '/' : rest}${query}` }
  }

  return {
    handle(request: IncomingMessage, response: ServerResponse): void {
      const target = find(request)
      if (!target.ok) return void response.writeHead(target.status).end(target.why)
      const socket = connectTo(target.record, target.port, response)
      if (socket === undefined) return void response.writeHead(502).end('the server is gone')
      const upstream = ask(
        { createConnection: () => socket, method: request.method, path: target.path, headers: request.headers },
        answer => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        },
      )
      upstream.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
      response.on('close', () => socket.destroy())
      request.pipe(upstream)
    },
    /** Passes the request on as it came, and then bytes both ways. */
    upgrade(request: IncomingMessage, peer: Duplex, head: Buffer): void {
      const target = find(request)
      const socket = target.ok ? connectTo(target.record, target.port, peer) : undefined
      if (!target.ok || socket === undefined) {
        peer.end(`HTTP/1.1 ${target.ok ? 502 : target.status} Refused\r\nConnection: close\r\n\r\n`)
        return
      }
      const { rawHeaders, method = 'GET' } = request
      const lines = [`${method} ${target.path} HTTP/1.1`]
      for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      socket.write(head)
      join(peer, socket)
    },
  }
}

export type Preview = ReturnType<typeof makePreview>
