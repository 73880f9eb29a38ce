import * as assert from 'uvu/assert'
import { serveControl } from '../../src/environment/server.ts'
import type { ErrorData } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { makeFixture } from '../wire/support/fixture-environment.ts'
import { dialRaw, errorOf } from '../wire/support/raw-peer.ts'
import { sessionIdOf, until, withServer } from '../wire/support/served-fixture.ts'

const test = suite('sessions that outlive their connection')

test('a dropped connection parks a task, releases an idle session, and the task is resumed by its id', () =>
  withServer({}, async ({ dial, environment, server }) => {
    const idle = await dial()
    await idle.call('hello', {})
    await idle.close()
    await until(() => server.sessionCount() === 0)

    const first = await dial()
    const id = sessionIdOf(await first.call('hello', {}))
    await first.call('tasks.start', { id: 'echo', args: { value: 'kept' } })
    const rival = await dial()
    const live = errorOf(await rival.call('hello', { session_id: id }))
    assert.is(live.code, -32600)
    assert.match(live.message, 'has a live connection')
    await first.close()
    const second = await dial()
    let reply = await second.call('hello', { session_id: id })
    while (reply?.error !== undefined) reply = await second.call('hello', { session_id: id })
    assert.is(sessionIdOf(reply), id)
    assert.is(sessionIdOf(await second.call('hello', { session_id: id })), id, 'a heartbeat')
    assert.equal((await second.call('tasks.grade', { answer: 'kept' }))?.result, { score: 1, content: 'graded' })
    assert.not(environment.events.includes(`cancel ${id}`))
  }))

test('a plain grade adopts the one parked task, and names them when there are more', () =>
  withServer({}, async ({ dial, environment, server }) => {
    const ids: string[] = []
    for (const value of ['x', 'y']) {
      const peer = await dial()
      ids.push(sessionIdOf(await peer.call('hello', {})))
      await peer.call('tasks.start', { id: 'echo', args: { value } })
      peer.socket.end()
      assert.is(await peer.next(), undefined)
    }
    const fresh = await dial()
    const error = errorOf(await fresh.call('tasks.grade', { answer: 'x' }))
    assert.is(error.code, -32600)
    assert.is(
      error.message,
      `2 parked sessions (${[...ids].sort().join(', ')}); resume one by sending hello with its session_id`,
    )
    const resumed = await dial()
    await resumed.call('hello', { session_id: ids[1] })
    await resumed.call('bye')
    assert.equal((await fresh.call('tasks.grade', { answer: 'x' }))?.result, { score: 1, content: 'graded' })
    await until(() => environment.events.includes(`close ${ids[0]}`))
    assert.is(server.sessionCount(), 0)
  }))

test('a connection that has a session of its own keeps it when it adopts a task', () =>
  withServer({}, async ({ dial, environment, server }) => {
    const first = await dial()
    await first.call('tasks.start', { id: 'echo', args: { value: 'x' } })
    first.socket.end()
    assert.is(await first.next(), undefined)
    const third = await dial()
    const own = sessionIdOf(await third.call('hello', {}))
    assert.equal((await third.call('tasks.grade', { answer: 'x' }))?.result, { score: 1, content: 'graded' })
    assert.is(sessionIdOf(await third.call('hello', {})), own)
    await third.close()
    await until(() => server.sessionCount() === 0)
    assert.ok(environment.events.includes(`close ${own}`))
  }))

test('a hang-up lets a start finish and park, and stops a grade', () =>
  withServer({}, async ({ dial, environment, server }) => {
    const starter = await dial()
    const id = sessionIdOf(await starter.call('hello', {}))
    starter.send({ jsonrpc: '2.0', id: 2, method: 'tasks.start', params: { id: 'slow', args: { value: 1 } } })
    await until(() => environment.events.includes(`start ${id} slow`))
    await starter.close()
    environment.startGate.open()
    const grader = await dial()
    let resumed = await grader.call('hello', { session_id: id })
    while (resumed?.error !== undefined) resumed = await grader.call('hello', { session_id: id })
    grader.send({ jsonrpc: '2.0', id: 3, method: 'tasks.grade', params: { answer: 1 } })
    await until(() => environment.events.includes(`grade ${id}`))
    await grader.close()
    await until(() => environment.events.includes(`close ${id}`))
    assert.is(server.sessionCount(), 0)
  }))

test('a session that cannot be closed is told to whoever says goodbye, and otherwise to onError', () => {
  const problems: ErrorData[] = []
  return withServer({ onError: error => problems.push(error) }, async ({ dial, environment, server }) => {
    const { openSession } = environment
    environment.openSession = async id => ({
      ...(await openSession(id)),
      hasTask: false,
      close: () => Promise.reject(new Error('the directory is busy')),
    })
    const polite = await dial()
    await polite.call('hello', {})
    assert.equal(errorOf(await polite.call('bye')), { code: -32000, message: 'the directory is busy' })
    assert.is(await polite.next(), undefined)
    assert.is(problems.length, 0)
    const rude = await dial()
    const id = sessionIdOf(await rude.call('hello', {}))
    await rude.close()
    await until(() => problems.length === 1)
    assert.is(problems[0]?.tag, 'session-not-closed')
    assert.match(problems[0]?.message ?? '', `session ${id} was not closed cleanly: the directory is busy`)
    assert.is(server.sessionCount(), 0)
  })
})

test('close ends sessions that are live, parked and busy', async () => {
  const environment = await makeFixture()
  const server = await serveControl(environment, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
  const peers = [await dialRaw(server.address), await dialRaw(server.address), await dialRaw(server.address)]
  const [live, parked, busy] = peers
  await live?.call('hello', {})
  await parked?.call('tasks.start', { id: 'echo', args: {} })
  await parked?.close()
  await busy?.call('hello', {})
  busy?.send({ jsonrpc: '2.0', id: 2, method: 'tasks.start', params: { id: 'slow', args: {} } })
  await until(() => environment.events.some(event => event.endsWith('slow')))
  await Promise.all([server.close(), server.close()])
  assert.is(environment.events.filter(event => event.startsWith('close')).length, 3)
  assert.is(server.sessionCount(), 0)
  for (const peer of peers) await peer.close()
  await environment.close()
})

test.run()
