import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import type { ListenAddress } from '../../src/wire/address.ts'
import { suite } from '../support/suite.ts'
import { makeManualClock } from '../wire/support/manual-clock.ts'
import { sessionIdOf, until, withServer } from '../wire/support/served-fixture.ts'

const test = suite('control channel server, asked for a WebSocket')

const portOf = (address: ListenAddress) => (address.kind === 'tcp' ? address.port : 0)
const HELLO = '{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n'

async function open(address: ListenAddress): Promise<Socket> {
  const socket = connect({ port: portOf(address), host: '127.0.0.1' }).setNoDelay(true)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Everything until the end. */
async function readToEnd(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  if (!socket.closed) await once(socket, 'close')
  return text
}

/** What a plain WebSocket client receives, as text. */
function collect(websocket: WebSocket): () => string {
  let text = ''
  websocket.on('message', data => {
    text += String(data)
  })
  return () => text
}

async function upgrade(address: ListenAddress): Promise<WebSocket> {
  const websocket = new WebSocket(`ws://127.0.0.1:${portOf(address)}/some/where?x=1`)
  websocket.on('error', () => {})
  await once(websocket, 'open')
  return websocket
}

test('another project’s WebSocket, text or binary, cut anywhere, is answered as bare lines are', () =>
  withServer({}, async ({ server, dial, environment }) => {
    const websocket = await upgrade(server.address)
    const received = collect(websocket)
    for (const piece of [HELLO.slice(0, 7), Buffer.from(HELLO.slice(7, 20)), '', HELLO.slice(20)]) websocket.send(piece)
    websocket.send(`{"jsonrpc":"2.0","id":2,"method":"tasks.list"}\n{"jsonrpc":"2.0","id":3,"method":"bye"}\n`)
    await once(websocket, 'close')
    const [hello = '', list, bye] = received().split('\n')
    const bare = await dial()
    const welcome = await bare.call('hello', {})
    const own = sessionIdOf(JSON.parse(hello))
    assert.is(hello.replace(own, ''), JSON.stringify(welcome).replace(sessionIdOf(welcome), ''))
    assert.match(list ?? '', '"id":2')
    assert.match(bye ?? '', '"goodbye":true')
    assert.match(environment.events[1] ?? '', 'close')
  }))

test('a plain request gets a short 426, whatever its path, and the connection ends', () =>
  withServer({}, async ({ server }) => {
    const answer = await fetch(`http://127.0.0.1:${portOf(server.address)}/health`)
    assert.is(answer.status, 426)
    assert.is(answer.headers.get('upgrade'), 'websocket')
    assert.ok((await answer.text()).length < 200)
    const socket = await open(server.address)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n')
    assert.is((await readToEnd(socket)).split('HTTP/1.1 426').length, 2)
  }))

const refused: readonly [title: string, bytes: string, answer: string][] = [
  ['what is no HTTP after all', 'GET what\r\n\r\n', 'HTTP/1.1 400'],
  ['headers without an end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 'HTTP/1.1 431'],
  ['an upgrade to something else', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n', ' 400 '],
  [
    'an upgrade without a key',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ' 400 ',
  ],
]
for (const [title, bytes, answer] of refused)
  test(`${title} is refused, and the server goes on`, () =>
    withServer({}, async ({ server, dial }) => {
      const socket = await open(server.address)
      socket.write(bytes)
      assert.match(await readToEnd(socket), answer)
      const peer = await dial()
      assert.ok((await peer.call('hello', {}))?.result)
    }))

test('the request may come byte by byte, with the first frames in its last piece', () =>
  withServer({}, async ({ server }) => {
    const request = [
      'GET /x HTTP/1.1',
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
      '\r\n',
    ].join('\r\n')
    const payload = Buffer.from(HELLO)
    // One binary message, masked with zeros.
    const frame = Buffer.concat([Buffer.from([0x82, 0x80 | payload.length, 0, 0, 0, 0]), payload])
    const socket = await open(server.address)
    for (const byte of Buffer.from(request).subarray(0, 8)) {
      socket.write(Buffer.of(byte))
      await new Promise(resolve => setImmediate(resolve))
    }
    socket.write(Buffer.concat([Buffer.from(request).subarray(8), frame]))
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    await until(() => text.includes('session_id'))
    assert.match(text, 'HTTP/1.1 101')
    socket.destroy()
  }))

test('a connection that says nothing has no timer, one that begins a request has 10 s for it, a WebSocket none', async () => {
  const clock = makeManualClock()
  await withServer({ clock }, async ({ server, dial }) => {
    const silent = await open(server.address)
    const slow = await open(server.address)
    slow.write('GE')
    await (await dial()).call('hello', {})
    assert.is(clock.pending(), 0)
    slow.write('T /')
    await until(() => clock.pending() === 1)
    await clock.advance(9_999)
    assert.not.ok(slow.destroyed)
    const ended = readToEnd(slow)
    await clock.advance(1)
    assert.is(await ended, '')
    const websocket = await upgrade(server.address)
    assert.is(clock.pending(), 0)
    const received = collect(websocket)
    websocket.send(HELLO)
    await until(() => received().includes('session_id'))
    silent.write(HELLO)
    assert.match(String(await once(silent, 'data')), 'session_id')
    websocket.terminate()
    silent.destroy()
  })
})

test('a connection that ends or breaks before it has said what it is leaves nothing', () =>
  withServer({ maxConnections: 2 }, async ({ server, dial }) => {
    for (const start of ['', 'G', 'GET / HTTP/1.1\r\n']) {
      const socket = await open(server.address)
      const ended = readToEnd(socket)
      socket.end(start)
      await ended
      const broken = await open(server.address)
      broken.write(start)
      broken.resetAndDestroy()
    }
    // Refused while the server still counts any of them.
    for (let id: unknown; id === undefined; ) {
      const peer = await dial()
      id = (await peer.call('hello', {}))?.result
    }
  }))

test('a message longer than any frame is refused with 1009, a frame over the limit as on bare lines', () =>
  withServer({ maxFrameBytes: 100_000 }, async ({ server }) => {
    const tooLong = await upgrade(server.address)
    tooLong.send(Buffer.alloc(100_002))
    assert.is((await once(tooLong, 'close'))[0], 1009)
    const tooMany = await upgrade(server.address)
    const received = collect(tooMany)
    for (let sent = 0; sent < 3; sent += 1) tooMany.send(Buffer.alloc(40_000, 'x'))
    await once(tooMany, 'close')
    assert.match(received(), /"code":-32000.*longer than the limit of 100000 bytes/)
  }))

test('a session is parked when its WebSocket is cut in the middle of a message', () =>
  withServer({}, async ({ server, environment, dial }) => {
    const websocket = await upgrade(server.address)
    const received = collect(websocket)
    websocket.send(HELLO)
    websocket.send('{"jsonrpc":"2.0","id":2,"method":"tasks.start","params":{"id":"echo","args":{"value":1}}}\n')
    await until(() => received().includes('"prompt"'))
    websocket.send('{"jsonrpc":"2.0","id":3,"method":"tasks.gr', { fin: false })
    websocket.terminate()
    const id = sessionIdOf(
      received()
        .split('\n')
        .slice(0, 1)
        .map(line => JSON.parse(line)),
    )
    const peer = await dial()
    for (let resumed = false; !resumed; ) {
      const reply = await peer.call('hello', { session_id: id })
      resumed = reply?.result !== undefined
    }
    assert.equal((await peer.call('tasks.grade', { answer: 1 }))?.result, { score: 1, content: 'graded' })
    assert.not.match(environment.events.join(' '), 'cancel')
  }))

test.run()
