import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { systemClock } from '../../src/clock.ts'
import { type ServeOptions, serveControl } from '../../src/environment/server.ts'
import type { Address } from '../../src/wire/address.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import { openTunnel } from '../../src/wire/tunnel.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { makeManualClock } from '../wire/support/manual-clock.ts'
import { errorOf, type RawPeer } from '../wire/support/raw-peer.ts'
import { until, withServer } from '../wire/support/served-fixture.ts'
import { reach, TRANSPORTS } from '../wire/support/transport.ts'

const test = suite('control channel server that wants a token')

const TOKEN = 'a-token-of-this-test-alone'
const RIGHT = { troupe: { version: 1, token: TOKEN } }
const REFUSAL = 'this server wants a token'
const waiting = { clock: systemClock, deadlineMs: 20_000 }

for (const host of ['0.0.0.0', '::', '192.0.2.1', '', 'build-7.example'])
  test(`listening on "${host}" is refused without a token, before the port is opened`, () =>
    withServer({}, async ({ environment }) => {
      const error = await failure(serveControl(environment, { listen: { kind: 'tcp', host, port: 0 } }))
      assert.is(error.tag, 'token-wanted')
      for (const way of ['--token-file', 'TROUPE_SERVE_TOKEN', '--insecure', "HUD's own clients send none"])
        assert.ok(error.message.includes(way), way)
    }))

const EITHER: readonly Partial<ServeOptions>[] = [{ insecure: true }, { token: TOKEN }]
for (const given of EITHER)
  test(`listening everywhere is allowed with ${Object.keys(given)[0]}`, () =>
    withServer({ listen: { kind: 'tcp', host: '0.0.0.0', port: 0 }, ...given }, async ({ dial }) => {
      assert.ok((await (await dial()).call('hello', RIGHT))?.result)
    }))

for (const transport of TRANSPORTS) {
  const place = (address: Parameters<typeof reach>[0], token?: string): Address => ({
    ...reach(address, transport),
    ...(token === undefined ? {} : { token }),
  })

  test(`${transport}: who has the token has sessions, streams and ends`, () =>
    withServer({ token: TOKEN }, async ({ server }) => {
      const client = makeControlClient()
      const address = place(server.address, TOKEN)
      try {
        const one = await client.connect(address, waiting)
        const two = await client.connect(address, waiting)
        assert.ok(two.multiplexed)
        await one.startTask('echo', { value: 'x' })
        assert.is((await one.grade('x')).score, 1)
        const stream = await one.openTunnel('echo')
        stream.write('there and back')
        assert.is(String(await once(stream, 'data').then(([chunk]) => chunk)), 'there and back')
        stream.destroy()
        await two.park()
        const alone = makeControlClient()
        assert.is(await alone.endSession(address, two.sessionId, 5_000), true)
        await alone.close()
        assert.is(server.sessionCount(), 1)
      } finally {
        await client.close()
      }
    }))

  for (const [title, token] of [
    ['no token', undefined],
    ['another token', `${TOKEN}s`],
  ] as const)
    test(`${transport}: ${title} opens nothing, is not tried again, and the error says what to set`, () =>
      withServer({ token: TOKEN }, async ({ server, environment }) => {
        const client = makeControlClient()
        const address = place(server.address, token)
        const refused = [
          await failure(client.connect(address, waiting)),
          await failure(openTunnel(address, 'echo', { clock: systemClock })),
        ]
        for (const error of refused) {
          assert.is(error.tag, 'token-refused')
          assert.match(error.message, token === undefined ? 'was given none' : 'was given another')
          assert.match(error.message, 'TROUPE_SERVE_TOKEN')
          assert.not.ok(JSON.stringify(error.data).includes(TOKEN))
        }
        assert.is(await client.endSession(address, 'sess-00000000', 5_000), false)
        await client.close()
        assert.equal(environment.events, [])
      }))
}

const FIRST_FRAMES: readonly [title: string, bytes: string | Buffer][] = [
  ...['hello', 'tasks.list', 'tasks.start', 'tasks.grade', 'tasks.cancel', 'bye', 'session.park', 'session.end'].map(
    (method): [string, string] => [method, JSON.stringify({ id: 1, method, params: { session_id: 'sess-00000000' } })],
  ),
  ['tunnel.open', JSON.stringify({ id: 1, method: 'tunnel.open', params: { capability: 'echo' } })],
  ['troupe.ping', JSON.stringify({ id: 1, method: 'troupe.ping' })],
  ['a channel’s end', JSON.stringify({ method: 'channel.close', ch: 0 })],
  ['an unknown method', JSON.stringify({ id: 'x', method: 'tasks.fly' })],
  ['no method', JSON.stringify({ id: 2 })],
  ['params that are a list', JSON.stringify({ id: 3, method: 'hello', params: [TOKEN] })],
  ['a token that is a list', JSON.stringify({ id: 3, method: 'hello', params: { troupe: { token: [TOKEN] } } })],
  ['half the token', JSON.stringify({ id: 4, method: 'hello', params: { troupe: { token: TOKEN.slice(0, 9) } } })],
  ['an empty token', JSON.stringify({ id: 5, method: 'hello', params: { troupe: { token: '' } } })],
  ['the token in its wrong place', JSON.stringify({ id: 6, method: 'hello', token: TOKEN, params: { token: TOKEN } })],
  ['what is not JSON', '{"id":'],
  ['a list', '[]'],
  ['what is not UTF-8', Buffer.from([0xff])],
  ['the token in a frame of 64 KiB', JSON.stringify({ method: 'hello', params: RIGHT, pad: 'x'.repeat(65_536) })],
]

for (const [title, bytes] of FIRST_FRAMES)
  test(`without the token ${title} gets the one answer, and the end`, () =>
    withServer({ token: TOKEN }, async ({ dial, environment }) => {
      const peer = await dial()
      peer.socket.write(bytes)
      // What comes along with it is not even looked at.
      peer.socket.write(`\n${JSON.stringify({ id: 9, method: 'hello', params: RIGHT })}\n`)
      const answer = await peer.next()
      assert.equal(errorOf(answer).code, -32600)
      assert.match(errorOf(answer).message, REFUSAL)
      assert.is(await peer.next(), undefined)
      assert.equal(environment.events, [])
    }))

test('the first frame alone shows the token, and what follows may be as long as ever', () =>
  withServer({ token: TOKEN }, async ({ dial }) => {
    const peer = await dial()
    assert.ok((await peer.call('hello', RIGHT))?.result)
    assert.ok((await peer.call('tasks.list', { pad: 'x'.repeat(1_000_000) }))?.result)
  }))

test('a message of a WebSocket is not held beyond 64 KiB', () =>
  withServer({ token: TOKEN }, async ({ server }) => {
    const { address } = server
    const websocket = new WebSocket(`ws://127.0.0.1:${address.kind === 'tcp' ? address.port : 0}/`)
    websocket.on('error', () => {})
    await once(websocket, 'open')
    websocket.send(Buffer.alloc(65_537, 0x20))
    const [code] = await once(websocket, 'close')
    assert.is(code, 1009)
  }))

test('10 s without the token are the end; with it there is no timer', async () => {
  const clock = makeManualClock()
  await withServer({ token: TOKEN, clock }, async ({ dial }) => {
    const silent = await dial()
    const slow = await dial()
    slow.socket.write('{"id":1,')
    const known = await dial()
    assert.ok((await known.call('hello', RIGHT))?.result)
    await until(() => clock.pending() === 2)
    await clock.advance(9_999)
    assert.not.ok(silent.socket.destroyed)
    await clock.advance(1)
    assert.is(await silent.next(), undefined)
    assert.is(await slow.next(), undefined)
    assert.is(clock.pending(), 0)
    assert.ok((await known.call('tasks.list'))?.result)
  })
})

test('of too many that say nothing the oldest go, and none of them keeps out who has the token', () =>
  withServer({ token: TOKEN, maxStrangers: 3, clock: makeManualClock() }, async ({ dial }) => {
    const silent: RawPeer[] = []
    for (let each = 0; each < 5; each += 1) silent.push(await dial())
    const known = await dial()
    assert.ok((await known.call('hello', RIGHT))?.result)
    const gone = await Promise.all(silent.slice(0, 3).map(peer => peer.next()))
    assert.equal(gone, [undefined, undefined, undefined])
    const last = silent[4]
    assert.ok((await last?.call('hello', RIGHT))?.result)
    assert.ok((await known.call('tasks.list'))?.result)
  }))

test.run()
