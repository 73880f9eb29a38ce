import * as assert from 'uvu/assert'
import { serveControl } from '../../src/environment/server.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import type { JsonObject } from '../../src/wire/json-rpc.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'
import { makeFixture } from './support/fixture-environment.ts'
import { makeManualClock } from './support/manual-clock.ts'
import { serveRaw } from './support/raw-peer.ts'
import { until } from './support/served-fixture.ts'

const test = suite('heartbeat')
const welcome = { session_id: 'sess-12345678', env: { name: 'py', version: '0' }, bindings: [] }

test('hello is sent again with the session’s own id every 120 s, and silence for 5 s loses the session', async () => {
  const requests: JsonObject[] = []
  const server = await serveRaw(async peer => {
    for (let request = await peer.next(); request !== undefined; request = await peer.next()) {
      requests.push(request)
      if (requests.length < 3) peer.send({ jsonrpc: '2.0', id: request.id, result: welcome })
      if (requests.length === 3) peer.send({ jsonrpc: '2.0', id: request.id, error: { code: -32600, message: 'busy' } })
    }
  })
  const clock = makeManualClock()
  const client = makeControlClient({ clock })
  const session = await client.connect(server.address, { clock, deadlineMs: 1_000 })
  await clock.advance(119_999)
  assert.is(requests.length, 1)
  for (const expected of [2, 3, 4]) {
    await clock.advance(expected === 2 ? 1 : 120_000)
    await until(() => requests.length === expected)
    assert.equal(requests.at(-1)?.params, { session_id: 'sess-12345678' })
    // The reply has to be read before the 5 s are let pass.
    for (let turns = 0; turns < 20; turns += 1) await clock.advance(0)
  }
  const lost = failure(session.listTasks())
  await clock.advance(5_000)
  assert.is((await lost).tag, 'session-lost')
  assert.match((await lost).message, 'did not answer a heartbeat within 5000 ms')
  await client.close()
  await server.close()
  await until(() => clock.pending() === 0)
})

test('a heartbeat waits for a call that runs', async () => {
  const methods: unknown[] = []
  let finish: (() => void) | undefined
  const server = await serveRaw(async peer => {
    for (let request = await peer.next(); request !== undefined; request = await peer.next()) {
      const { id, method } = request
      methods.push(method)
      if (method === 'hello') peer.send({ jsonrpc: '2.0', id, result: welcome })
      else finish = () => peer.send({ jsonrpc: '2.0', id, result: { score: 1 } })
    }
  })
  const clock = makeManualClock()
  const client = makeControlClient({ clock })
  const session = await client.connect(server.address, { clock, deadlineMs: 1_000 })
  const grading = session.grade('a')
  await until(() => finish !== undefined)
  await clock.advance(600_000)
  assert.equal(methods, ['hello', 'tasks.grade'])
  finish?.()
  assert.is((await grading).score, 1)
  await until(() => methods.length === 3)
  await client.close()
  await server.close()
})

test('a shared connection beats once for all, also while calls run', async () => {
  const environment = await makeFixture()
  const server = await serveControl(environment, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
  const clock = makeManualClock()
  const client = makeControlClient({ clock })
  const session = await client.connect(server.address, { clock, deadlineMs: 1_000 })
  const starting = session.startTask('slow', {})
  await until(() => environment.events.some(event => event.startsWith('start')))
  assert.is(clock.pending(), 1, 'one timer')
  await clock.advance(120_000)
  await until(() => clock.pending() === 1)
  for (let turns = 0; turns < 20; turns += 1) await clock.advance(0)
  await clock.advance(100_000)
  environment.startGate.open()
  assert.ok(await starting)
  await client.close()
  await server.close()
  await environment.close()
  await until(() => clock.pending() === 0)
})

test.run()
