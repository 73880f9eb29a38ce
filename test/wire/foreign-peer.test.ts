import { createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { serveControl } from '../../src/environment/server.ts'
import type { Address } from '../../src/wire/address.ts'
import { makeControlClient, type TroupeControlClient } from '../../src/wire/client.ts'
import type { JsonObject } from '../../src/wire/json-rpc.ts'
import type { ConnectOptions } from '../../src/wire/session.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'
import { makeFixture } from './support/fixture-environment.ts'
import { makeManualClock } from './support/manual-clock.ts'
import { type RawPeer, type RawServer, serveRaw } from './support/raw-peer.ts'
import { until } from './support/served-fixture.ts'

const test = suite('control client and a peer that is not ours')
const patient: ConnectOptions = { clock: systemClock, deadlineMs: 10_000 }
const welcome = { session_id: 'sess-12345678', env: { name: 'py', version: '0' }, bindings: [] }

async function withPeer(
  onConnection: (peer: RawPeer, index: number) => void,
  body: (client: TroupeControlClient, server: RawServer) => Promise<void>,
): Promise<void> {
  let index = 0
  const server = await serveRaw(peer => onConnection(peer, index++))
  const client = makeControlClient()
  try {
    await body(client, server)
  } finally {
    await client.close()
    await server.close()
  }
}

/** Answers every request by `toResult`; a result of undefined is no answer. */
async function answer(peer: RawPeer, toResult: (request: JsonObject) => unknown): Promise<void> {
  for (let request = await peer.next(); request !== undefined; request = await peer.next()) {
    const result = toResult(request)
    if (result !== undefined) peer.send({ jsonrpc: '2.0', id: request.id, result })
  }
}

test('each session has its own connection, and long frames are not sent', () => {
  let connections = 0
  return withPeer(
    peer => {
      connections += 1
      answer(peer, ({ method }) => (method === 'hello' ? welcome : { prompt: 'p', goodbye: true }))
    },
    async (client, { address }) => {
      const sessions = await Promise.all([1, 2, 3].map(() => client.connect(address, patient)))
      assert.is(connections, 3)
      const [session] = sessions
      if (session === undefined) return
      assert.is(session.multiplexed, false)
      assert.ok(await session.startTask('t', { a: 'x'.repeat(16_000_000) }))
      const error = await failure(session.startTask('t', { a: 'x'.repeat(17_000_000) }))
      assert.is(error.tag, 'frame-too-large')
      assert.match(error.message, 'the request tasks.start is a frame of 17000')
      assert.is(await session.end(), true)
    },
  )
})

test('connecting goes on while the port refuses, hangs up at the handshake or accepts in silence', async () => {
  const spare = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => spare.once('listening', resolve))
  const bound = spare.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  await new Promise(resolve => spare.close(resolve))
  const address: Address = { kind: 'tcp', host: '127.0.0.1', port }
  const client = makeControlClient()
  const connecting = client.connect(address, patient)
  let hangUps = 0
  const forwarder = createServer(socket => {
    hangUps += 1
    socket
      .on('error', () => {})
      .resume()
      .end()
  }).listen(port, '127.0.0.1')
  await until(() => hangUps >= 2)
  await new Promise(resolve => forwarder.close(resolve))
  const environment = await makeFixture()
  const server = await serveControl(environment, { listen: address })
  const session = await connecting
  assert.is(session.env.name, 'fixture')
  await client.close()
  await server.close()
  await environment.close()
})

test('a peer that accepts and says nothing is given up at the deadline, and so is one that refuses', () =>
  withPeer(
    () => {},
    async (client, { address, close }) => {
      const clock = makeManualClock()
      const silent = failure(client.connect(address, { clock, deadlineMs: 60_000 }))
      await clock.advance(60_000)
      const error = await silent
      assert.is(error.tag, 'connect-timeout')
      assert.match(error.message, 'within 60000 ms (1 tries). It accepted, but did not answer')
      await close()
      const refused = failure(client.connect(address, { clock: systemClock, deadlineMs: 60 }))
      assert.match((await refused).message, 'ECONNREFUSED')
      assert.is(clock.pending(), 0)
    },
  ))

test('a connection that reached itself, as loopback allows, is tried again', () =>
  withPeer(
    (peer, index) => {
      if (index === 0) peer.socket.pipe(peer.socket)
      else answer(peer, () => welcome)
    },
    async (client, { address }) => {
      assert.is((await client.connect(address, patient)).sessionId, 'sess-12345678')
    },
  ))

test('an abort ends the connecting with the reason given', () =>
  withPeer(
    () => {},
    async (client, { address }) => {
      const controller = new AbortController()
      const connecting = client.connect(address, { ...patient, signal: controller.signal })
      controller.abort(new Error('no longer wanted'))
      await connecting.then(
        () => assert.unreachable(),
        (error: Error) => assert.is(error.message, 'no longer wanted'),
      )
    },
  ))

const violations: readonly [title: string, reply: (request: JsonObject) => string, tag: string, text: string][] = [
  ['a reply with another id', () => '{"jsonrpc":"2.0","id":99,"result":{}}\n', 'protocol-error', 'id 99'],
  ['what is not JSON', () => 'HTTP/1.1 400 Bad Request\r\n', 'protocol-error', 'not JSON'],
  ['a result that is no object', ({ id }) => `{"id":${id},"result":3}\n`, 'protocol-error', 'neither a result'],
  [
    'an error without an id',
    () => '{"id":null,"error":{"code":-32000,"message":"too big"}}\n',
    'remote-error',
    'too big',
  ],
]

for (const [title, reply, tag, text] of violations)
  test(`${title} aborts the connection`, () =>
    withPeer(
      async peer => {
        const hello = await peer.next()
        if (hello !== undefined) peer.send({ jsonrpc: '2.0', id: hello.id, result: welcome })
        const request = await peer.next()
        if (request !== undefined) peer.socket.write(reply(request))
        assert.is(await peer.next(), undefined)
      },
      async (client, { address }) => {
        const session = await client.connect(address, patient)
        const error = await failure(session.listTasks())
        assert.is(error.tag, tag)
        assert.match(error.message, text)
        assert.is((await failure(session.grade(1))).tag, tag)
      },
    ))

test('answers that lack what they must have are the environment’s fault, and the session goes on', () =>
  withPeer(
    peer => void answer(peer, ({ method }) => (method === 'hello' ? welcome : { score: 'high' })),
    async (client, { address }) => {
      const session = await client.connect(address, patient)
      for (const call of [session.listTasks(), session.startTask('t', {}), session.grade(1)])
        assert.is((await failure(call)).tag, 'bad-reply')
    },
  ))

test('a welcome that lacks something is not taken', () =>
  withPeer(
    peer => void answer(peer, () => ({ ...welcome, bindings: [{ name: 'shell' }] })),
    async (client, { address }) =>
      assert.match((await failure(client.connect(address, patient))).message, 'a binding that lacks a name'),
  ))

test('an idle session cannot be parked there, one with a task is by hanging up', () =>
  withPeer(
    peer => void answer(peer, ({ method }) => (method === 'hello' ? welcome : { prompt: '' })),
    async (client, { address }) => {
      const session = await client.connect(address, patient)
      assert.is((await failure(session.park())).tag, 'park-unsupported')
      await session.startTask('t', {})
      await session.park()
      assert.is((await failure(session.listTasks())).tag, 'session-lost')
    },
  ))

test('a goodbye and a cancel that never come are not waited for longer than they should', () =>
  withPeer(
    peer => void answer(peer, ({ method }) => (method === 'hello' ? welcome : undefined)),
    async (client, { address }) => {
      const clock = makeManualClock()
      const session = await client.connect(address, { clock, deadlineMs: 1_000 })
      const cancelling = session.cancelTask()
      await clock.advance(2_000)
      await cancelling
      const ending = session.end()
      await clock.advance(5_000)
      assert.is(await ending, false)
    },
  ))

test('endSession resumes and ends where the peer has no such method', () => {
  const methods: unknown[] = []
  return withPeer(
    async peer => {
      for (let request = await peer.next(); request !== undefined; request = await peer.next()) {
        methods.push(request.method)
        const { id } = request
        if (request.method === 'session.end') peer.send({ id, error: { code: -32601, message: 'method not found' } })
        else peer.send({ id, result: request.method === 'hello' ? welcome : { goodbye: true } })
      }
    },
    async (client, { address }) => {
      assert.is(await client.endSession(address, 'sess-12345678', 5_000), true)
      assert.equal(methods, ['session.end', 'hello', 'bye'])
    },
  )
})

test.run()
