import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { serveControl } from '../../src/environment/server.ts'
import type { Address } from '../../src/wire/address.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import type { ConnectOptions } from '../../src/wire/session.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'
import { type FixtureEnvironment, makeFixture } from './support/fixture-environment.ts'
import { makeManualClock } from './support/manual-clock.ts'
import { dialRaw, errorOf } from './support/raw-peer.ts'
import { until, withServer } from './support/served-fixture.ts'
import { reach, TRANSPORTS, type Transport } from './support/transport.ts'

const test = suite('a connection that sessions share')
const patient: ConnectOptions = { clock: systemClock, deadlineMs: 10_000 }

/** A served fixture behind a forwarder that counts connections and can cut them. */
async function withForwarder(
  transport: Transport,
  body: (world: {
    address: Address
    environment: FixtureEnvironment
    sessionCount(): number
    connections: { total: number; open: number }
    cut(): void
  }) => Promise<void>,
): Promise<void> {
  const { createServer, connect } = await import('node:net')
  const environment = await makeFixture()
  const server = await serveControl(environment, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
  const { address } = server
  if (address.kind !== 'tcp') throw new Error('not over TCP')
  const connections = { total: 0, open: 0 }
  const cuts = new Set<() => void>()
  const forwarder = createServer(socket => {
    connections.total += 1
    connections.open += 1
    const far = connect({ host: address.host, port: address.port })
    const cut = () => {
      socket.destroy()
      far.destroy()
    }
    cuts.add(cut)
    socket.on('error', cut).pipe(far)
    far.on('error', cut).pipe(socket)
    socket.once('close', () => {
      connections.open -= 1
      cuts.delete(cut)
    })
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => forwarder.once('listening', resolve))
  const bound = forwarder.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  const cut = () => {
    for (const each of [...cuts]) each()
  }
  try {
    await body({
      address: reach({ kind: 'tcp', host: '127.0.0.1', port }, transport),
      environment,
      sessionCount: server.sessionCount,
      connections,
      cut,
    })
  } finally {
    cut()
    await new Promise(resolve => forwarder.close(resolve))
    await server.close()
    await environment.close()
  }
}

for (const transport of TRANSPORTS) {
  test(`300 sessions at once take two connections over ${transport}, which close when they have been idle for 2 s`, () =>
    withForwarder(transport, async ({ address, connections, sessionCount }) => {
      const clock = makeManualClock()
      const client = makeControlClient({ clock })
      const sessions = await Promise.all(Array.from({ length: 300 }, () => client.connect(address, patient)))
      assert.is(connections.total, 2)
      assert.is(sessionCount(), 300)
      await Promise.all(sessions.map(session => session.end()))
      assert.is(sessionCount(), 0)
      await clock.advance(1_999)
      const late = await client.connect(address, patient)
      await clock.advance(60_000)
      assert.ok(connections.open >= 1)
      assert.ok(await late.startTask('echo', {}))
      await late.end()
      await clock.advance(2_000)
      await until(() => connections.open === 0)
      assert.is(connections.total, 2)
      await client.close()
    }))

  test(`when it breaks over ${transport}, its sessions are lost, tasks are parked, ephemeral ones end, and new sessions go over a new one`, () =>
    withForwarder(transport, async ({ address, connections, environment, sessionCount, cut }) => {
      const client = makeControlClient()
      const kept = await client.connect(address, patient)
      const brief = await client.connect(address, { ...patient, ephemeral: true })
      const idle = await client.connect(address, patient)
      for (const session of [kept, brief]) await session.startTask('echo', { value: 'v' })
      cut()
      for (const session of [kept, brief, idle]) assert.is((await failure(session.listTasks())).tag, 'session-lost')
      await until(() => sessionCount() === 1)
      assert.ok(environment.events.includes(`close ${brief.sessionId}`))
      const resumed = await client.connect(address, { ...patient, sessionId: kept.sessionId })
      assert.is((await resumed.grade('v')).score, 1)
      assert.is(connections.total, 2)
      await client.close()
    }))
}

test('a connect that is given up leaves no session behind', () =>
  withServer({}, async ({ server, environment }) => {
    const client = makeControlClient()
    await client.connect(server.address, { ...patient, ephemeral: true })
    const controller = new AbortController()
    const connecting = client.connect(server.address, { ...patient, signal: controller.signal })
    await until(() => environment.events.length > 0)
    controller.abort(new Error('no longer wanted'))
    await connecting.then(
      () => assert.unreachable(),
      (error: Error) => assert.is(error.message, 'no longer wanted'),
    )
    await until(() => environment.events.some(event => event.startsWith('close')) || server.sessionCount() === 1)
    await client.close()
    await until(() => server.sessionCount() === 0)
  }))

test('on the wire: one hello grants it, requests carry the channel, and each channel ends by itself', () =>
  withServer({}, async ({ dial, server }) => {
    const peer = await dial()
    const troupe = { version: 1, multiplex: true, ephemeral: false }
    const welcome = await peer.call('hello', { troupe })
    assert.match(JSON.stringify(welcome), '"troupe":{"version":1,"multiplex":true,"maxFrameBytes":16777216}')
    peer.send({ jsonrpc: '2.0', id: 'b', method: 'hello', params: { troupe }, ch: 1 })
    assert.is((await peer.next())?.id, 'b')
    assert.is(server.sessionCount(), 2)
    peer.send({ jsonrpc: '2.0', id: 'c', method: 'tasks.start', params: { id: 'slow' }, ch: 1 })
    assert.equal((await peer.call('bye'))?.result, { goodbye: true })
    assert.match(errorOf(await peer.call('tasks.list')).message, 'this connection has no session')
    assert.equal((await peer.call('troupe.ping'))?.result, {})
    peer.send({ jsonrpc: '2.0', method: 'channel.close', ch: 1 })
    await peer.close()
  }))

test('a peer that floods a channel is cut off', () =>
  withServer({}, async ({ server, environment }) => {
    const { openSession } = environment
    environment.openSession = async id => {
      await environment.startGate.opened
      return openSession(id)
    }
    const peer = await dialRaw(server.address)
    for (let id = 0; id < 100; id += 1) peer.send({ jsonrpc: '2.0', id, method: 'hello', params: {} })
    assert.match(errorOf(await peer.next()).message, 'more than 64 requests are waiting')
    assert.is(await peer.next(), undefined)
    await peer.close()
    environment.startGate.open()
    await until(() => server.sessionCount() === 0)
  }))

test('a version that is not known here is met as a foreign peer', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    const welcome = await peer.call('hello', { troupe: { version: 2, multiplex: true } })
    assert.not('troupe' in Object(welcome?.result))
    assert.is(errorOf(await peer.call('session.park')).code, -32601)
  }))

test.run()
