import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { type Address, addressKey, formatAddress } from '../../src/wire/address.ts'
import { makeControlClient, type TroupeControlClient } from '../../src/wire/client.ts'
import type { ConnectOptions } from '../../src/wire/session.ts'
import { openTunnel } from '../../src/wire/tunnel.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'
import { makeManualClock } from './support/manual-clock.ts'
import { makeProxy, type UpgradeProxy, type Verdict } from './support/proxy.ts'
import { until, type World, withServer } from './support/served-fixture.ts'

const test = suite('a control channel through an HTTP proxy')
const patient: ConnectOptions = { clock: systemClock, deadlineMs: 10_000 }
const SECRET = 's3cret'

function at(port: number, token = SECRET): Address {
  return {
    kind: 'websocket',
    url: `ws://127.0.0.1:${port}/preview/8765?key=${SECRET}`,
    headers: { 'x-daytona-preview-token': token },
  }
}

interface Scene extends World {
  readonly client: TroupeControlClient
  readonly proxy: UpgradeProxy
}

const withProxy = (
  judge: (count: number) => Verdict,
  body: (scene: Scene) => Promise<void>,
  client = makeControlClient(),
) =>
  withServer({}, async world => {
    const proxy = await makeProxy(world.server.address, (_request, count) => judge(count))
    try {
      await body({ ...world, client, proxy })
    } finally {
      await client.close()
      await proxy.close()
    }
  })

test('path, query and headers arrive, and the session works', () =>
  withProxy(
    () => 'pass',
    async ({ client, proxy }) => {
      const session = await client.connect(at(proxy.port), patient)
      assert.is(proxy.requests[0]?.url, `/preview/8765?key=${SECRET}`)
      assert.is(proxy.requests[0]?.headers['x-daytona-preview-token'], SECRET)
      assert.not('sec-websocket-extensions' in (proxy.requests[0]?.headers ?? {}))
      assert.ok(await session.startTask('echo', { value: 1 }))
      assert.is((await session.grade(1)).score, 1)
      assert.is(await session.end(), true)
    },
  ))

test('an upgrade that is refused or cut means "not ready yet", and is tried again until it is served', () =>
  withProxy(
    count => ([400, 502, 'drop', 503] as const)[count - 1] ?? 'pass',
    async ({ client, proxy }) => {
      const session = await client.connect(at(proxy.port), patient)
      assert.is(proxy.requests.length, 5)
      assert.ok(await session.startTask('echo', {}))
    },
  ))

test('tries pause, end at the deadline, and say what the proxy answered', async () => {
  const clock = makeManualClock()
  await withProxy(
    () => 502,
    async ({ client, proxy }) => {
      const connecting = failure(client.connect(at(proxy.port), { clock, deadlineMs: 1_000 }))
      for (let tries = 1; clock.now() < 1_000; tries += 1) {
        // The deadline's timer and that of the pause: the try is over.
        await until(() => clock.pending() === 2)
        assert.is(proxy.requests.length, tries)
        await clock.advance(tries < 7 ? 5 * 2 ** (tries - 1) : 250)
      }
      const error = await connecting
      assert.is(error.tag, 'connect-timeout')
      assert.match(error.message, '502')
      assert.is(proxy.requests.length, 9)
      await until(() => proxy.open() === 0)
    },
    makeControlClient({ clock }),
  )
})

for (const status of [401, 403, 307])
  test(`${status} says that the token was refused, once, and shows no secret`, () =>
    withProxy(
      () => status,
      async ({ client, proxy }) => {
        const error = await failure(client.connect(at(proxy.port), patient))
        assert.is(error.tag, 'token-refused')
        assert.not.ok(error.data.transient)
        assert.is(error.data.details?.status, status)
        assert.is(proxy.requests.length, 1)
        assert.not.match(JSON.stringify(error.data), SECRET)
        assert.is((await failure(openTunnel(at(proxy.port), 'echo', { clock: systemClock }))).tag, 'token-refused')
        await until(() => proxy.open() === 0)
      },
    ))

for (const url of ['', 'http://127.0.0.1/x', 'ws://', `nonsense?key=${SECRET}`, `ws://127.0.0.1:1/#${SECRET}`])
  test(`"${url.replace(SECRET, '…')}" is no address, once, and shows no secret`, async () => {
    const client = makeControlClient()
    const error = await failure(client.connect({ kind: 'websocket', url, headers: {} }, patient))
    assert.is(error.tag, 'bad-websocket-address')
    assert.not.match(`${error.message} ${error.cause}`, SECRET)
    await client.close()
  })

test('a header that cannot be sent is told without its value', async () => {
  const client = makeControlClient()
  const error = await failure(client.connect(at(1, `${SECRET}\n`), patient))
  assert.is(error.tag, 'bad-websocket-address')
  assert.not.match(error.message, SECRET)
  await client.close()
})

test('a proxy that never answers is given up at the deadline, on an abort, and when a tunnel takes too long', async () => {
  const clock = makeManualClock()
  await withProxy(
    () => 'ignore',
    async ({ client, proxy }) => {
      const late = failure(client.connect(at(proxy.port), { clock, deadlineMs: 500 }))
      await until(() => proxy.requests.length === 1)
      await clock.advance(500)
      assert.is((await late).tag, 'connect-timeout')
      const controller = new AbortController()
      const aborted = client.connect(at(proxy.port), { clock, deadlineMs: 500, signal: controller.signal })
      await until(() => proxy.requests.length === 2)
      controller.abort(new Error('enough'))
      await aborted.then(
        () => assert.unreachable(),
        (error: Error) => assert.is(error.message, 'enough'),
      )
      const tunnel = failure(openTunnel(at(proxy.port), 'echo', { clock }))
      await until(() => proxy.requests.length === 3)
      await clock.advance(10_000)
      assert.is((await tunnel).tag, 'tunnel-failed')
      await until(() => proxy.open() === 0)
    },
    makeControlClient({ clock }),
  )
})

test('a connection that is cut in the middle of a frame loses the session, whose task is parked and resumed', () =>
  withProxy(
    count => (count === 1 ? { passBytes: 2_000 } : 'pass'),
    async ({ client, proxy, server }) => {
      const session = await client.connect(at(proxy.port), patient)
      assert.ok(await session.startTask('echo', { value: 'kept' }))
      const lost = await failure(session.listTasks().then(() => session.startTask('big', { size: 100_000 })))
      assert.is(lost.tag, 'session-lost')
      assert.is(lost.data.transient, true)
      await until(() => proxy.open() === 0)
      assert.is(server.sessionCount(), 1)
      const resumed = await client.connect(at(proxy.port), { ...patient, sessionId: session.sessionId })
      assert.is(resumed.sessionId, session.sessionId)
      assert.is((await resumed.grade('x')).score, 0)
      assert.is(await resumed.end(), true)
    },
  ))

test('addresses that differ in their token alone share no connection, equal ones do', () =>
  withProxy(
    () => 'pass',
    async ({ client, proxy }) => {
      for (const token of ['one', 'other', 'one', 'other']) await client.connect(at(proxy.port, token), patient)
      assert.equal(
        proxy.requests.map(({ headers }) => headers['x-daytona-preview-token']),
        ['one', 'other'],
      )
    },
  ))

test('an address is shown without its headers, user and query, and told apart with them', () => {
  const address: Address = { kind: 'websocket', url: 'wss://u:p@a.example/x/y?key=1', headers: { B: '2', a: '1' } }
  assert.is(formatAddress(address), 'wss://a.example/x/y')
  const key = addressKey(address)
  assert.is(addressKey({ ...address, headers: { A: '1', b: '2' } }), key)
  assert.is.not(addressKey({ ...address, headers: { A: '1', b: '3' } }), key)
  assert.is.not(addressKey({ ...address, url: 'wss://u:p@a.example/x/y?key=2' }), key)
  const path = '127.0.0.1:1'
  assert.is.not(addressKey({ kind: 'unix', path }), addressKey({ kind: 'tcp', host: '127.0.0.1', port: 1 }))
})

test.run()
