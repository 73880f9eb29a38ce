import { once } from 'node:events'
import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Clock, systemClock } from '../../src/clock.ts'
import { dial } from '../../src/wire/dial.ts'
import { Limit } from '../../src/wire/limit.ts'
import { openTunnel } from '../../src/wire/tunnel.ts'
import { MESSAGE_BYTES } from '../../src/wire/websocket-stream.ts'
import { suite } from '../support/suite.ts'
import { makeManualClock } from './support/manual-clock.ts'
import { until, withServer } from './support/served-fixture.ts'
import { reach, toWebSocket } from './support/transport.ts'

const test = suite('a WebSocket as a stream')
const clock = systemClock

/** A stream of ours and the other project's WebSocket that it leads to. */
async function withPeer(
  body: (stream: Duplex, peer: WebSocket) => Promise<void>,
  over: Clock = systemClock,
): Promise<void> {
  const http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const bound = http.address()
  const websockets = new WebSocketServer({ server: http })
  const limit = new Limit(over, 5_000, undefined, () => new Error('late'))
  const connected = once(websockets, 'connection')
  const stream = await dial(toWebSocket(typeof bound === 'object' && bound !== null ? bound.port : 0), limit, 100_000)
  limit.release()
  const [peer] = (await connected) as [WebSocket]
  try {
    await body(stream, peer)
  } finally {
    stream.destroy()
    peer.terminate()
    websockets.close()
    await new Promise(resolve => http.close(resolve))
  }
}

test('what is written arrives as it was, in messages of at most 64 KiB, however it was written', () =>
  withPeer(async (stream, peer) => {
    let sent = 0
    const received: Buffer[] = []
    peer.on('message', (data: Buffer) => received.push(data))
    const property = fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 6 }),
      fc.boolean(),
      async (sizes, together) => {
        received.length = 0
        const chunks = sizes.map(size => Buffer.alloc(size, `${sent++}`))
        if (together) stream.cork()
        for (const chunk of chunks) stream.write(chunk)
        if (together) stream.uncork()
        const whole = Buffer.concat(chunks)
        await until(() => received.reduce((sum, { length }) => sum + length, 0) >= whole.length)
        assert.ok(whole.equals(Buffer.concat(received)))
        assert.ok(received.every(({ length }) => length <= MESSAGE_BYTES))
      },
    )
    await fc.assert(property, { numRuns: 25 })
  }))

test('text and binary, long, short and empty messages are one row of bytes', () =>
  withPeer(async (stream, peer) => {
    for (const message of ['é', Buffer.from([0, 255]), '', Buffer.alloc(100_001, 'x')]) peer.send(message)
    peer.close()
    const received = await buffer(stream)
    assert.ok(received.equals(Buffer.concat([Buffer.from('é'), Buffer.from([0, 255]), Buffer.alloc(100_001, 'x')])))
  }))

test('a message over the limit breaks the stream, and the peer is told 1009', () =>
  withPeer(async (stream, peer) => {
    const closed = once(peer, 'close')
    const broken = once(stream, 'error')
    stream.resume()
    peer.send(Buffer.alloc(100_002))
    assert.match(String(await broken), 'Max payload size exceeded')
    assert.is((await closed)[0], 1009)
  }))

test('a reader that stops holds the peer back', () =>
  withPeer(async (stream, peer) => {
    const total = 60 << 20
    for (let sent = 0; sent < total; sent += MESSAGE_BYTES) peer.send(Buffer.alloc(MESSAGE_BYTES))
    await until(() => stream.readableLength > 0)
    for (let turns = 0; turns < 200; turns += 1) await new Promise(resolve => setImmediate(resolve))
    assert.ok(stream.readableLength < 1 << 20)
    assert.ok(peer.bufferedAmount > 1 << 20)
    let received = 0
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    await until(() => received === total)
  }))

test('an end of ours arrives after all that was written, and what the peer had sent by then is read', () =>
  withPeer(async (stream, peer) => {
    const sent = Buffer.alloc(3_000_000, 'abc')
    const received: Buffer[] = []
    peer.on('message', (data: Buffer) => {
      if (received.length === 0) peer.send('before')
      received.push(data)
    })
    const closed = once(peer, 'close')
    stream.end(sent)
    assert.is(String(await buffer(stream)), 'before')
    assert.is((await closed)[0], 1000)
    assert.ok(sent.equals(Buffer.concat(received)))
    await until(() => stream.closed)
  }))

for (const code of [1000, 1001, undefined])
  test(`an end of the peer's (${code ?? 'no code'}) is the end: writes after it are dropped and the stream closes`, () =>
    withPeer(async (stream, peer) => {
      peer.send('last words')
      peer.close(code)
      await once(peer, 'close')
      stream.write('too late')
      assert.is(String(await buffer(stream)), 'last words')
      await until(() => stream.closed)
      assert.is(stream.errored, null)
    }))

for (const [title, cut] of [
  ['cut without a goodbye', (peer: WebSocket) => peer.terminate()],
  ['closed for an error', (peer: WebSocket) => peer.close(1011)],
] as const)
  test(`a WebSocket ${title} is a broken stream`, () =>
    withPeer(async (stream, peer) => {
      const broken = once(stream, 'error')
      stream.resume()
      cut(peer)
      assert.match(String(await broken), /closed with code 10(06|11)/)
      assert.ok(stream.destroyed)
    }))

test('a stream on which nothing is said is pinged every 25 s, for as long as it is open', async () => {
  const manual = makeManualClock()
  await withPeer(async (stream, peer) => {
    for (let pings = 0; pings < 3; pings += 1) {
      const pinged = once(peer, 'ping')
      await manual.advance(25_000)
      await pinged
    }
    stream.resume().end()
    await until(() => stream.closed && manual.pending() === 0)
  }, manual)
})

test('a stream that is destroyed takes its connection along, and says nothing more', () =>
  withPeer(async (stream, peer) => {
    const closed = once(peer, 'close')
    peer.send(Buffer.alloc(90_000))
    stream.destroy()
    await closed
    assert.ok(stream.closed)
  }))

test('tunnels: bytes go both ways, and an end of either side ends both', () =>
  withServer({}, async ({ server, environment }) => {
    const address = reach(server.address, 'websocket')
    const stream = await openTunnel(address, 'echo', { clock })
    const sent = Buffer.alloc(3_000_000, 'abcdefg')
    let received = 0
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    stream.write(sent)
    await until(() => received === sent.length)
    stream.end()
    await once(stream, 'close')
    const got: Buffer[] = []
    const ended = new Promise<void>(resolve => {
      environment.connectCapability = async () => {
        const daemon = new Duplex({
          read() {},
          write: (chunk: Buffer, _encoding, done) => done(void got.push(chunk)),
          final: done => done(void resolve()),
        })
        daemon.push('goodbye')
        daemon.push(null)
        return daemon
      }
    })
    const other = await openTunnel(address, 'ends first', { clock })
    other.write('heard')
    assert.is(String(await buffer(other)), 'goodbye')
    await ended
    await until(() => other.closed)
    assert.ok(['heard', ''].includes(String(Buffer.concat(got))))
  }))

test('tunnels: a daemon that does not read holds the sender back, and a closing server cuts', () =>
  withServer({}, async ({ server, environment, dial: dialLines }) => {
    const stuck = new Duplex({ read() {}, write() {} })
    environment.connectCapability = async () => stuck
    const stream = await openTunnel(reach(server.address, 'websocket'), 'stuck', { clock })
    stream.on('error', () => {}).write(Buffer.alloc(50 << 20))
    const peer = await dialLines()
    for (let calls = 0; calls < 100; calls += 1) await peer.call('tasks.list')
    assert.ok(stuck.writableLength > 0)
    assert.ok(stuck.writableLength < 1 << 20, `${stuck.writableLength} bytes wait in the server`)
    const closed = new Promise(resolve => stream.once('close', resolve))
    stream.resume()
    await server.close()
    await closed
    assert.ok(stuck.destroyed)
  }))

test.run()
