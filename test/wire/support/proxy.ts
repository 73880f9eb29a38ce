import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ListenAddress } from '../../../src/wire/address.ts'

/** What the proxy does with one upgrade: a status to refuse it with, or how it is passed on. */
export type Verdict = number | 'drop' | 'ignore' | 'pass' | { readonly passBytes: number }

export interface UpgradeProxy {
  readonly port: number
  /** Every upgrade that was asked for, in order. */
  readonly requests: IncomingMessage[]
  /** Connections that are open on the near side. */
  open(): number
  close(): Promise<void>
}

/** An HTTP proxy before a server, as a cloud has one before a sandbox. `passBytes`: the far side's first so many bytes, then both are cut. */
export async function makeProxy(
  far: ListenAddress,
  judge: (request: IncomingMessage, count: number) => Verdict,
): Promise<UpgradeProxy> {
  if (far.kind !== 'tcp') throw new Error('not over TCP')
  const requests: IncomingMessage[] = []
  const sockets = new Set<Duplex>()
  const server = createServer((_request, response) => response.writeHead(502).end())
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request, near, head) => {
    requests.push(request)
    const verdict = judge(request, requests.length)
    if (verdict === 'ignore') return void near.on('end', () => near.end()).resume()
    if (verdict === 'drop') return void near.destroy()
    if (typeof verdict === 'number')
      return void near.end(`HTTP/1.1 ${verdict} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    passOn(request, near, head, verdict === 'pass' ? Number.POSITIVE_INFINITY : verdict.passBytes)
  })

  function passOn(request: IncomingMessage, near: Duplex, head: Buffer, passBytes: number): void {
    const socket = connect({ host: '127.0.0.1', port: far.kind === 'tcp' ? far.port : 0, noDelay: true })
    const cut = () => {
      near.destroy()
      socket.destroy()
    }
    for (const end of [near, socket]) end.on('error', cut).on('close', cut)
    const lines = [`GET ${request.url} HTTP/1.1`]
    for (let at = 0; at < request.rawHeaders.length; at += 2)
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`)
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    socket.write(head)
    near.pipe(socket)
    let left = passBytes
    socket.on('data', (chunk: Buffer) => {
      near.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) near.end(cut)
    })
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (typeof bound !== 'object' || bound === null) throw new Error('no port')
  return {
    port: bound.port,
    requests,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
