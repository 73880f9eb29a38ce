import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { type ServeOptions, serveControl } from '../../src/environment/server.ts'
import { hasTag } from '../../src/errors.ts'
import type { Address } from '../../src/wire/address.ts'
import { makeControlClient, type TroupeControlClient } from '../../src/wire/client.ts'
import type { ConnectOptions } from '../../src/wire/session.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'
import { type FixtureEnvironment, makeFixture } from './support/fixture-environment.ts'
import { until } from './support/served-fixture.ts'
import { reach, TRANSPORTS } from './support/transport.ts'

const patient: ConnectOptions = { clock: systemClock, deadlineMs: 10_000 }
const shell = { name: 'shell', protocol: 'ssh/2', url: 'ssh://agent@127.0.0.1:22', params: { user: 'agent' } }

interface World {
  readonly client: TroupeControlClient
  readonly environment: FixtureEnvironment
  readonly address: Address
  sessionCount(): number
}

const ways = TRANSPORTS.flatMap(transport => (['never', 'auto'] as const).map(multiplex => ({ transport, multiplex })))

for (const { transport, multiplex } of ways) {
  const test = suite(`control client over ${transport}, multiplex ${multiplex}`)

  async function withClient(body: (world: World) => Promise<void>, options: Partial<ServeOptions> = {}) {
    const environment = await makeFixture([shell])
    const listen = { kind: 'tcp', host: '127.0.0.1', port: 0 } as const
    const server = await serveControl(environment, { listen, ...options })
    const client = makeControlClient({ multiplex })
    try {
      await body({ client, environment, address: reach(server.address, transport), sessionCount: server.sessionCount })
    } finally {
      await client.close()
      await server.close()
      await environment.close()
    }
  }

  test('a session says hello, starts, grades and ends', () =>
    withClient(async ({ client, address, environment, sessionCount }) => {
      const session = await client.connect(address, patient)
      assert.is(session.multiplexed, multiplex === 'auto')
      assert.match(session.sessionId, /^sess-[0-9a-f]{8}$/)
      assert.equal(session.env, { name: 'fixture', version: '1.2.3' })
      assert.equal(session.bindings, [shell])
      assert.is((await session.listTasks())[0]?.id, 'echo')
      assert.equal(await session.startTask('echo', { value: 'é' }), { prompt: 'do é', extra: 'é' })
      assert.equal(await session.grade('é'), { score: 1, content: 'graded' })
      await session.cancelTask()
      assert.is(await session.end(), true)
      assert.is(sessionCount(), 0)
      assert.is(await session.end(), false)
      assert.is((await failure(session.grade(1))).tag, 'session-lost')
      assert.is(environment.events.length, 4)
    }))

  test('sessions side by side do not mix', () =>
    withClient(async ({ client, address, sessionCount }) => {
      const run = async (value: number) => {
        const session = await client.connect(address, { ...patient, ephemeral: true })
        const { prompt } = await session.startTask('echo', { value })
        const { score } = await session.grade(value)
        return [prompt, score, await session.end()]
      }
      const ends = await Promise.all(Array.from({ length: 200 }, (_, index) => run(index)))
      assert.equal(
        ends,
        ends.map((_, index) => [`do ${index}`, 1, true]),
      )
      assert.is(sessionCount(), 0)
    }))

  test('an error of the environment is told with its code', () =>
    withClient(async ({ client, address }) => {
      const session = await client.connect(address, patient)
      const error = await failure(session.startTask('throws', {}))
      assert.is(error.tag, 'remote-error')
      assert.is(error.data.details?.code, -32000)
      assert.match(error.message, 'the template is broken')
      assert.is((await failure(session.startTask('echo', { a: 1 }))).data.details?.code, -32602)
      assert.is((await failure(session.grade(1))).data.details?.code, -32600)
      const circular: Record<string, unknown> = {}
      circular.self = circular
      assert.is((await failure(session.startTask('echo', circular))).tag, 'not-json')
      assert.is(await session.end(), true)
    }))

  test('between peers of ours a frame may be long, up to the server’s limit', () =>
    withClient(
      async ({ client, address }) => {
        const session = await client.connect(address, patient)
        const { prompt } = await session.startTask('big', { size: 400_000 })
        assert.is(String(prompt).length, 400_000)
        const error = await failure(session.startTask('echo', { value: 'x'.repeat(600_000) }))
        assert.is(error.tag, 'frame-too-large')
        assert.is((await session.grade(1)).score, 0, 'the session goes on')
      },
      { maxFrameBytes: 500_000 },
    ))

  test('a session is parked, idle or not, and resumed by another client', () =>
    withClient(async ({ client, address, sessionCount }) => {
      const idle = await client.connect(address, patient)
      await idle.park()
      assert.is((await failure(idle.listTasks())).tag, 'session-lost')
      const busy = await client.connect(address, { ...patient, ephemeral: true })
      await busy.startTask('echo', { value: 1 })
      await busy.park()
      const other = makeControlClient({ multiplex })
      try {
        const resumedIdle = await other.connect(address, { ...patient, sessionId: idle.sessionId })
        const resumedBusy = await other.connect(address, { ...patient, sessionId: busy.sessionId })
        assert.is(resumedIdle.sessionId, idle.sessionId)
        assert.equal(resumedIdle.bindings, [shell])
        assert.is((await failure(resumedIdle.grade(1))).data.details?.code, -32600, 'it takes no other’s task')
        assert.is((await resumedBusy.grade(1)).score, 1)
        const live = await failure(client.connect(address, { ...patient, sessionId: busy.sessionId }))
        assert.match(live.message, 'has a live connection')
        assert.is(await resumedIdle.end(), true)
        assert.is(await resumedBusy.end(), true)
        assert.is(sessionCount(), 0)
        const gone = await failure(client.connect(address, { ...patient, sessionId: busy.sessionId }))
        assert.is(gone.data.details?.code, -32600)
      } finally {
        await other.close()
      }
    }))

  test('an aborted session parks its task, unless it is ephemeral', () =>
    withClient(async ({ client, address, environment, sessionCount }) => {
      const kept = await client.connect(address, patient)
      await kept.startTask('echo', { value: 1 })
      const brief = await client.connect(address, { ...patient, ephemeral: true })
      await brief.startTask('echo', { value: 2 })
      kept.abort()
      brief.abort()
      await until(() => environment.events.includes(`close ${brief.sessionId}`))
      assert.is((await failure(kept.grade(1))).tag, 'session-lost')
      assert.is(sessionCount(), 1)
      assert.is(await client.endSession(address, kept.sessionId, 5_000), true)
      assert.is(sessionCount(), 0)
    }))

  test('endSession ends what is parked, live or unknown; the live one is told', () =>
    withClient(async ({ client, address, environment, sessionCount }) => {
      environment.startGate.open()
      const live = await client.connect(address, patient)
      await live.startTask('slow', {})
      const grading = failure(live.grade(1))
      await until(() => environment.events.includes(`grade ${live.sessionId}`))
      const bystander = await client.connect(address, patient)
      const reaper = makeControlClient({ multiplex })
      try {
        assert.is(await reaper.endSession(address, live.sessionId, 5_000), true)
        assert.ok(['session-lost', 'remote-error'].includes((await grading).tag))
        assert.is((await failure(live.startTask('echo', {}))).tag, 'session-lost')
        assert.is(await reaper.endSession(address, live.sessionId, 5_000), true)
        assert.ok(await bystander.startTask('echo', {}))
        assert.is(sessionCount(), 1)
      } finally {
        await reaper.close()
      }
    }))

  test('an aborted call lets go at once, its template is cancelled, and the session goes on', () =>
    withClient(async ({ client, address, environment }) => {
      const session = await client.connect(address, patient)
      const controller = new AbortController()
      const starting = session.startTask('slow', {}, controller.signal)
      await until(() => environment.events.includes(`start ${session.sessionId} slow`))
      controller.abort(new Error('enough'))
      await starting.then(
        () => assert.unreachable(),
        (error: Error) => assert.is(error.message, 'enough'),
      )
      assert.ok(await session.startTask('echo', { value: 1 }))
      assert.is((await session.grade(1)).score, 1)
    }))

  test('a cut of the server ends every call with session-lost', async () => {
    const environment = await makeFixture()
    const server = await serveControl(environment, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
    const client = makeControlClient({ multiplex })
    const address = reach(server.address, transport)
    const sessions = await Promise.all([client.connect(address, patient), client.connect(address, patient)])
    const starts = sessions.map(session => failure(session.startTask('slow', {})))
    await until(() => environment.events.length === 4)
    await server.close()
    for (const start of starts) {
      const error = await start
      assert.ok(['session-lost', 'remote-error'].includes(error.tag), error.tag)
    }
    for (const session of sessions) assert.is((await failure(session.listTasks())).tag, 'session-lost')
    await client.close()
    await environment.close()
  })

  test('connecting waits for a server that is still to come, and a full one is transient', () =>
    withClient(
      async ({ client, address, environment }) => {
        const first = await client.connect(address, patient)
        const full = await failure(client.connect(address, patient))
        assert.is(full.data.transient, true)
        assert.is(full.data.details?.tag, 'too-many-sessions')
        await first.end()
        await environment.close()
      },
      { maxSessions: 1 },
    ))

  test('a closed client refuses, and its close cuts what is open', () =>
    withClient(async ({ client, address, sessionCount }) => {
      const session = await client.connect(address, { ...patient, ephemeral: true })
      await client.close()
      assert.is((await failure(session.listTasks())).tag, 'client-closed')
      assert.is((await failure(client.connect(address, patient))).tag, 'client-closed')
      await until(() => sessionCount() === 0)
    }))

  test.run()
}

const unix = suite('control client over a Unix socket')
unix('a session goes over a socket file, which goes with the server', async () => {
  const { mkdtemp, rm, readdir } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const directory = await mkdtemp(join(tmpdir(), 'troupe-wire-'))
  const environment = await makeFixture()
  const server = await serveControl(environment, { listen: { kind: 'unix', path: join(directory, 'control') } })
  const client = makeControlClient()
  const session = await client.connect(server.address, patient)
  await session.startTask('echo', { value: 1 })
  assert.is((await session.grade(1)).score, 1)
  assert.is(await session.end(), true)
  await client.close()
  const again = serveControl(environment, { listen: server.address })
  assert.ok(hasTag(await failure(again), 'port-in-use'))
  await server.close()
  await environment.close()
  assert.equal(await readdir(directory), [])
  await rm(directory, { recursive: true })
})
unix.run()
