import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { ListenAddress } from '../../src/wire/address.ts'
import { suite } from '../support/suite.ts'
import { until, withServer } from '../wire/support/served-fixture.ts'
import { cuts, deadlineOf, executed, executionsOf, pieces, report, SEED } from './executions.ts'

const test = suite('fuzz: WebSockets')
test.after(report)

const UPGRADE = [
  'GET /any HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
].join('\r\n')

/** A frame of RFC 6455 whose every field may be a lie. */
const frame = fc
  .record({
    first: fc.oneof(fc.constantFrom(0x81, 0x82, 0x01, 0x80, 0x88, 0x89, 0x8a), fc.nat(255)),
    masked: fc.boolean(),
    size: fc.oneof(fc.constant('true'), fc.constantFrom('2 bytes', '8 bytes', 'huge')),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
      fc
        .constantFrom('{"id":1,"method":"hello","params":{}}\n', '{"id":2,"method":"bye"}\n', '{')
        .map(text => Buffer.from(text)),
    ),
  })
  .map(({ first, masked, size, payload }) => {
    const bit = masked ? 0x80 : 0
    const head =
      {
        true: Buffer.of(first, bit | payload.length),
        '2 bytes': Buffer.of(first, bit | 126, 0, payload.length),
        '8 bytes': Buffer.of(first, bit | 127, 0, 0, 0, 0, 0, 0, 0, payload.length),
        huge: Buffer.of(first, bit | 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
      }[size] ?? Buffer.alloc(0)
    return masked ? Buffer.concat([head, Buffer.alloc(4), payload]) : Buffer.concat([head, payload])
  })
const start = fc.oneof(
  { weight: 6, arbitrary: fc.constant(Buffer.from(`${UPGRADE}\r\n\r\n`)) },
  { weight: 1, arbitrary: fc.string().map(text => Buffer.from(`GET /${text} HTTP/1.1\r\n\r\n`)) },
  { weight: 1, arbitrary: fc.string().map(header => Buffer.from(`${UPGRADE}\r\n${header}\r\n\r\n`)) },
)
const conversation = fc
  .tuple(start, fc.array(frame, { maxLength: 6 }))
  .map(([head, frames]) => Buffer.concat([head, ...frames]))

async function say(address: ListenAddress, sent: readonly Buffer[]): Promise<void> {
  if (address.kind !== 'tcp') throw new Error('not over TCP')
  const socket = connect({ host: address.host, port: address.port })
  socket.on('error', () => {}).resume()
  await once(socket, 'connect')
  for (const piece of sent) if (socket.writable) socket.write(piece)
  const closed = new Promise(resolve => socket.once('close', resolve))
  socket.end()
  await Promise.race([closed, once(socket, 'end').catch(() => undefined)])
  socket.destroy()
  await closed
}

for (const token of [undefined, 'the-token-of-the-fuzzer'])
  test(
    `whatever is said to the upgrade ${token === undefined ? '' : 'of a server with a token '}harms nobody else`,
    () =>
      withServer(token === undefined ? {} : { token }, async ({ server, dial }) => {
        const hello = token === undefined ? {} : { troupe: { version: 1, token } }
        const property = fc.asyncProperty(conversation, cuts, async (bytes, places) => {
          executed(`WebSocket frames${token === undefined ? '' : ' with a token'}`)
          await say(server.address, pieces(bytes, places))
        })
        await fc.assert(property, { numRuns: executionsOf(150), seed: SEED })
        const peer = await dial()
        assert.ok((await peer.call('hello', hello))?.result, 'it still serves')
        await peer.call('bye')
        await until(() => server.sessionCount() === 0)
      }),
    deadlineOf(150),
  )

test.run()
