import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { serveControl } from '../../src/environment/server.ts'
import { MAX_CHANNELS } from '../../src/environment/server-connection.ts'
import { makeGate } from '../../src/environment/server-gate.ts'
import {
  encodeJsonFrame,
  FrameType,
  MAX_CHANNELS as MAX_COMMANDS,
  makeFrameReader,
} from '../../src/wire/exec-frames.ts'
import { MAX_FRAME_BYTES } from '../../src/wire/frame.ts'
import type { JsonObject } from '../../src/wire/json-rpc.ts'
import { bindingOf, openWorkspace } from '../environment/workspace/open-workspace.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { makeGate as makeDoor, makeFixture } from '../wire/support/fixture-environment.ts'
import { dialRaw, errorOf } from '../wire/support/raw-peer.ts'
import { until, withServer } from '../wire/support/served-fixture.ts'

const test = suite('limits of what is served')
const LOOPBACK = { kind: 'tcp', host: '127.0.0.1', port: 0 } as const

test('the longest frame is 16 MiB, where nothing else is said', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    const pad = (bytes: number) => {
      const line = '{"id":1,"method":"tasks.list","params":{"pad":""}}'
      return line.replace('""', `"${'x'.repeat(bytes - line.length)}"`)
    }
    peer.socket.write(`${pad(MAX_FRAME_BYTES)}\n`)
    assert.ok((await peer.next())?.result)
    peer.socket.write(pad(MAX_FRAME_BYTES + 1))
    assert.match(errorOf(await peer.next()).message, 'longer than the limit of 16777216 bytes')
    assert.is(await peer.next(), undefined)
  }))

test('64 requests may wait; the next ends the connection, with a word', async () => {
  const fixture = await makeFixture()
  const door = makeDoor()
  const environment = { ...fixture, openSession: (id: string) => door.opened.then(() => fixture.openSession(id)) }
  const server = await serveControl(environment, { listen: LOOPBACK })
  const peer = await dialRaw(server.address)
  try {
    for (let id = 0; id <= 64; id += 1) peer.send({ jsonrpc: '2.0', id, method: 'hello', params: {} })
    peer.send({ jsonrpc: '2.0', id: 65, method: 'hello', params: {} })
    const answer = await peer.next()
    assert.is(answer?.id, null)
    assert.match(errorOf(answer).message, 'more than 64 requests are waiting')
    assert.is(await peer.next(), undefined)
    door.open()
    await until(() => server.sessionCount() === 0)
  } finally {
    await peer.close()
    await server.close()
    await environment.close()
  }
})

test('sessions count while they open, so that a crowd does not get in together', async () => {
  const fixture = await makeFixture()
  const door = makeDoor()
  const environment = { ...fixture, openSession: (id: string) => door.opened.then(() => fixture.openSession(id)) }
  const server = await serveControl(environment, { listen: LOOPBACK, maxSessions: 2 })
  const peers = await Promise.all(Array.from({ length: 5 }, () => dialRaw(server.address)))
  try {
    const answered: (JsonObject | undefined)[] = []
    const all = peers.map(peer => peer.call('hello', {}).then(answer => answered.push(answer)))
    await until(() => answered.length === 3)
    for (const answer of answered) assert.match(errorOf(answer).message, 'holds 2 sessions at most')
    door.open()
    await Promise.all(all)
    assert.is(answered.filter(answer => answer?.result !== undefined).length, 2)
  } finally {
    for (const peer of peers) await peer.close()
    await server.close()
    await environment.close()
  }
})

test('a shared connection carries so many sessions and no more, those that were refused counted', () =>
  withServer({ maxSessions: 1 }, async ({ dial }) => {
    const peer = await dial()
    const offer = { troupe: { version: 1, multiplex: true, ephemeral: true } }
    assert.ok((await peer.call('hello', offer))?.result)
    const lines = Array.from({ length: MAX_CHANNELS }, (_, at) =>
      JSON.stringify({ id: `c${at + 1}`, method: 'hello', params: {}, ch: at + 1 }),
    )
    peer.socket.write(`${lines.join('\n')}\n`)
    const said: string[] = []
    for (let answers = 0; answers < MAX_CHANNELS; answers += 1) said.push(errorOf(await peer.next()).message)
    assert.is(said.filter(text => text.includes('holds 1 sessions at most')).length, MAX_CHANNELS - 1)
    assert.is(said.filter(text => text.includes(`carries ${MAX_CHANNELS} sessions at most`)).length, 1)
  }))

test('WebSockets count among the connections', () =>
  withServer({ maxConnections: 1 }, async ({ server, dial }) => {
    const { address } = server
    const websocket = new WebSocket(`ws://127.0.0.1:${address.kind === 'tcp' ? address.port : 0}/`)
    await once(websocket, 'open')
    const peer = await dial()
    assert.match(errorOf(await peer.next()).message, 'holds 1 connections at most')
    websocket.terminate()
  }))

test('the gate holds as many strangers as it may, however many come', async () => {
  const clock = new VirtualClock()
  const gate = makeGate({ token: 'the-token-of-this-test', clock, maxStrangers: 8 })
  const fixture = await makeFixture()
  const streams = await Promise.all(Array.from({ length: 40 }, () => fixture.connectCapability('echo')))
  for (const stream of streams) gate.watch(stream.on('error', () => {}))
  assert.is(clock.pending, 8)
  assert.is(streams.filter(stream => stream.destroyed).length, 32)
  const last = streams[39]
  assert.ok(
    last !== undefined && !gate.opens(last, 'the-token-of-that-test') && gate.opens(last, 'the-token-of-this-test'),
  )
  assert.is(clock.pending, 7)
  await clock.advance(10_000)
  assert.is(streams.filter(stream => stream.destroyed).length, 39)
  await fixture.close()
})

test('a stream of commands has so many channels, and tells the next one so', async () => {
  const opened = await openWorkspace({ maxCommands: 1 })
  try {
    const stream = await opened.host.connect('exec')
    const read = makeFrameReader()
    const refused = new Promise<number>(resolve => {
      stream.on('data', (chunk: Buffer) => {
        for (const { type, channel } of read(chunk)) if (type === FrameType.failure) resolve(channel)
      })
    })
    const token = String(bindingOf(opened, 'exec/1').params.token)
    const starts = Array.from({ length: MAX_COMMANDS + 1 }, (_, at) =>
      encodeJsonFrame(FrameType.start, at + 1, { command: 'sleep 60' }),
    )
    stream.write(Buffer.concat([encodeJsonFrame(FrameType.hello, 0, { token }), ...starts]))
    assert.is(await refused, MAX_COMMANDS + 1)
    stream.destroy()
  } finally {
    await opened.closeHost()
  }
})

test.run()
