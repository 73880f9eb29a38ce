import { createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import { openTunnel } from '../../src/wire/tunnel.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'
import { errorOf } from './support/raw-peer.ts'
import { until, withServer } from './support/served-fixture.ts'

const test = suite('tunnels')
const clock = systemClock

async function readAll(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Collects bytes without ending the stream, as `for await` would. */
function collect(socket: Socket): () => Buffer {
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  return () => Buffer.concat(chunks)
}

test('bytes go both ways, and each direction ends by itself', () =>
  withServer({}, async ({ server }) => {
    const stream = await openTunnel(server.address, 'echo', { clock })
    const sent = Buffer.alloc(3_000_000, 'abcdefg')
    const received = readAll(stream)
    stream.end(sent)
    assert.ok(sent.equals(await received))
  }))

test('a session opens tunnels beside its calls', () =>
  withServer({}, async ({ server }) => {
    const client = makeControlClient()
    const session = await client.connect(server.address, { clock, deadlineMs: 5_000 })
    const stream = await session.openTunnel('echo')
    stream.end('hello')
    assert.is(String(await readAll(stream)), 'hello')
    assert.ok(await session.startTask('echo', {}))
    await client.close()
  }))

test('bytes that come in one piece with the first frame belong to the stream', () =>
  withServer({}, async ({ dial }) => {
    const { socket } = await dial()
    socket.removeAllListeners('data')
    const received = collect(socket)
    socket.write('{"jsonrpc":"2.0","id":1,"method":"tunnel.open","params":{"capability":"echo"}}\n\0raw\xff\n')
    const reply = '{"jsonrpc":"2.0","id":1,"result":{"capability":"echo"}}\n'
    await until(() => received().length >= reply.length + 7)
    assert.equal(received(), Buffer.from(`${reply}\0raw\xff\n`))
  }))

test('bytes that come in one piece with the reply belong to the stream, also when it comes byte by byte', async () => {
  for (const pieces of ['whole', 'bytes'] as const) {
    const server = createServer({ allowHalfOpen: true }, socket => {
      const text = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"capability":"x"}}\nSSH-2.0-early\r\n')
      socket.on('error', () => {}).resume()
      if (pieces === 'whole') socket.end(text)
      else {
        socket.setNoDelay(true)
        for (const byte of text) socket.write(Buffer.of(byte))
        socket.end()
      }
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const stream = await openTunnel({ kind: 'tcp', host: '127.0.0.1', port }, 'x', { clock })
    const received: Buffer[] = []
    stream.on('data', chunk => received.push(chunk))
    await new Promise(resolve => stream.once('end', resolve))
    assert.is(String(Buffer.concat(received)), 'SSH-2.0-early\r\n')
    stream.destroy()
    await new Promise(resolve => server.close(resolve))
  }
})

test('a daemon that does not read holds the sender back', () =>
  withServer({}, async ({ server, environment, dial }) => {
    const stuck = new Duplex({ read() {}, write() {} })
    environment.connectCapability = async () => stuck
    const stream = await openTunnel(server.address, 'stuck', { clock })
    stream.write(Buffer.alloc(50 << 20))
    // By the time these are answered, the server has read of the tunnel what it is going to read.
    const peer = await dial()
    for (let calls = 0; calls < 100; calls += 1) await peer.call('tasks.list')
    assert.ok(stuck.writableLength > 0)
    assert.ok(stuck.writableLength < 1 << 20, `${stuck.writableLength} bytes wait in the server`)
    stream.destroy()
  }))

const refusals: readonly [title: string, params: unknown, code: number, text: string][] = [
  ['a capability that is no text', { capability: 1 }, -32602, "'capability' must be a string"],
  ['an unknown capability', { capability: 'nope' }, -32602, "no capability 'nope'"],
  ['a capability whose daemon is down', { capability: 'broken' }, -32000, 'does not answer'],
]

for (const [title, params, code, text] of refusals)
  test(`${title} is ${code}, then the connection closes`, () =>
    withServer({}, async ({ dial, server }) => {
      const peer = await dial()
      const error = errorOf(await peer.call('tunnel.open', params))
      assert.is(error.code, code)
      assert.match(error.message, text)
      assert.is(await peer.next(), undefined)
      const named = Object.values(params as object).find(value => typeof value === 'string')
      if (named === undefined) return
      const refused = await failure(openTunnel(server.address, named, { clock }))
      assert.is(refused.tag, 'remote-error')
      assert.is(refused.data.details?.code, code)
    }))

test('tunnel.open after the first frame is an unknown method', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    await peer.call('hello', {})
    assert.is(errorOf(await peer.call('tunnel.open', { capability: 'echo' })).code, -32601)
  }))

test('a tunnel to nowhere fails, an abort gives its reason', () =>
  withServer({}, async ({ server }) => {
    const nowhere = { kind: 'unix', path: '/nonexistent/socket' } as const
    assert.is((await failure(openTunnel(nowhere, 'echo', { clock }))).tag, 'tunnel-failed')
    const signal = AbortSignal.abort(new Error('not wanted'))
    await openTunnel(server.address, 'echo', { clock, signal }).then(
      () => assert.unreachable(),
      (error: Error) => assert.is(error.message, 'not wanted'),
    )
  }))

test('a stream that breaks takes the other side with it, and a closing server both', () =>
  withServer({}, async ({ server }) => {
    const stream = await openTunnel(server.address, 'echo', { clock })
    stream.destroy()
    const other = await openTunnel(server.address, 'echo', { clock })
    other.on('error', () => {})
    const closed = new Promise(resolve => other.once('close', resolve))
    other.resume()
    await server.close()
    await new Promise(resolve => setImmediate(resolve))
    other.end()
    await closed
  }))

test.run()
