import { once } from 'node:events'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { hostileJson } from './executions.ts'

export interface HttpTarget {
  readonly host: string
  readonly port: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What came back: a status, or nothing where the connection was ended without an answer. */
export interface HttpEnd {
  readonly status: number | undefined
  readonly text: string
}

/** One request, its body cut short after `cut` bytes where that is given; then the caller hangs up in the middle of it. */
export async function send(
  target: HttpTarget,
  method: string,
  path: string,
  body: Buffer,
  options: { readonly type?: string; readonly cut?: number; readonly length?: number } = {},
): Promise<HttpEnd> {
  const socket = connect({ host: target.host, port: target.port })
  socket.on('error', () => {}) // cut by the other end: `close` follows
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const closed = new Promise(resolve => socket.once('close', resolve))
  await once(socket, 'connect')
  const headers = {
    Host: `${target.host}:${target.port}`,
    Connection: 'close',
    'Content-Type': options.type ?? 'application/json',
    'Content-Length': String(options.length ?? body.length),
    ...target.headers,
  }
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  )
  if (options.cut === undefined) socket.write(body)
  else socket.write(body.subarray(0, options.cut), () => socket.destroy())
  await closed
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
  return { status: status === undefined ? undefined : Number(status), text }
}

export function toTarget(url: string, headers: Readonly<Record<string, string>> = {}): HttpTarget {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port), headers }
}

/** A valid body with some of its fields replaced, dropped, or beside others. */
export function spoiled(valid: Readonly<Record<string, unknown>>): fc.Arbitrary<Buffer> {
  return fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(valid), '__proto__', 'constructor'), hostileJson), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.subarray(Object.keys(valid)),
    )
    .map(([replaced, dropped]) => {
      const kept = Object.entries(valid).filter(([key]) => !dropped.includes(key))
      const fields = [...kept, ...replaced].map(
        ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? 'null'}`,
      )
      return Buffer.from(`{${fields.join(',')}}`)
    })
}

export const garbage: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
  hostileJson.map(value => Buffer.from(JSON.stringify(value) ?? 'null')),
  fc
    .constantFrom(
      '{',
      '{"a":',
      '[]',
      '"',
      'null',
      '',
      '{"a":1}{"b":2}',
      `${'['.repeat(5_000)}`,
      `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    )
    .map(text => Buffer.from(text)),
)
