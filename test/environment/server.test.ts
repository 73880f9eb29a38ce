import * as assert from 'uvu/assert'
import { serveControl } from '../../src/environment/server.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { errorOf } from '../wire/support/raw-peer.ts'
import { sessionIdOf, until, withServer } from '../wire/support/served-fixture.ts'

const test = suite('control channel server, spoken to in bare lines')

test('a session goes from hello to goodbye and then the server closes', () =>
  withServer({}, async ({ dial, environment, server }) => {
    const peer = await dial()
    const welcome = await peer.call('hello', {})
    const id = sessionIdOf(welcome)
    assert.equal(welcome, {
      jsonrpc: '2.0',
      id: 1,
      result: { session_id: id, env: { name: 'fixture', version: '1.2.3' }, bindings: [] },
    })
    const list = await peer.call('tasks.list')
    assert.match(JSON.stringify(list), '"id":"slow","description":"the task slow"')
    assert.equal((await peer.call('tasks.start', { id: 'echo', args: { value: 'a' } }))?.result, {
      prompt: 'do a',
      extra: 'a',
    })
    assert.equal((await peer.call('tasks.grade', { answer: 'a' }))?.result, { score: 1, content: 'graded' })
    assert.equal((await peer.call('tasks.cancel'))?.result, { cancelled: true })
    assert.equal((await peer.call('bye'))?.result, { goodbye: true })
    assert.is(await peer.next(), undefined)
    assert.equal(environment.events, [`open ${id}`, `start ${id} echo`, `grade ${id}`, `close ${id}`])
    assert.is(server.sessionCount(), 0)
  }))

test('hello is optional, and a null or absent args is no argument', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    assert.ok((await peer.call('tasks.start', { id: 'echo', args: null }))?.result)
    assert.ok((await peer.call('tasks.start', { id: 'echo' }))?.result)
    assert.ok((await peer.call('tasks.grade', { answer: undefined }))?.result)
  }))

const refused: readonly [title: string, method: string, params: unknown, code: number, text: string][] = [
  ['a session id that is no text', 'hello', { session_id: 7 }, -32602, "'session_id' must be a string"],
  ['an unknown session', 'hello', { session_id: 'sess-00000000' }, -32600, 'unknown session'],
  ['a task id that is no text', 'tasks.start', { id: 1 }, -32602, "'id' must be a string"],
  ['args that are no object', 'tasks.start', { id: 'echo', args: [1] }, -32602, "'args' must be an object"],
  ['an unknown task', 'tasks.start', { id: 'nope', args: {} }, -32602, "unknown task: 'nope'"],
  [
    'all bad arguments at once',
    'tasks.start',
    { id: 'echo', args: { a: 1, b: 2 } },
    -32602,
    "'a'; unexpected argument 'b'",
  ],
  ['a template that throws', 'tasks.start', { id: 'throws', args: {} }, -32000, 'the template is broken'],
  ['a grade without a task', 'tasks.grade', { answer: 1 }, -32600, 'no task in progress'],
  ['an unknown method', 'tasks.fly', {}, -32601, 'method not found: tasks.fly'],
  ['parking, which others do not have', 'session.park', {}, -32601, 'method not found'],
  ['params that are no object', 'tasks.list', [1], -32602, "'params' must be an object"],
]

for (const [title, method, params, code, text] of refused)
  test(`${title} is ${code}, and the session goes on`, () =>
    withServer({}, async ({ dial, environment }) => {
      const peer = await dial()
      await peer.call('hello', {})
      const before = environment.events.length
      const error = errorOf(await peer.call(method, params))
      assert.is(error.code, code)
      assert.match(error.message, text)
      if (code === -32602) assert.is(environment.events.length, before, 'no side effect')
      assert.ok((await peer.call('tasks.list'))?.result)
    }))

test('a grader that throws is -32000, and has consumed the task', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    await peer.call('tasks.start', { id: 'grade-throws', args: {} })
    assert.equal(errorOf(await peer.call('tasks.grade', {})), { code: -32000, message: 'the grader is broken' })
    assert.is(errorOf(await peer.call('tasks.grade', {})).code, -32600)
  }))

test('a second call while one runs is -32600, a cancel reaches it, and the interrupted call is answered first', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    peer.send({ jsonrpc: '2.0', id: 1, method: 'tasks.start', params: { id: 'slow', args: {} } })
    for (const method of ['tasks.start', 'tasks.list', 'hello']) {
      peer.send({ jsonrpc: '2.0', id: method, method, params: {} })
      const reply = await peer.next()
      assert.is(reply?.id, method)
      assert.equal(errorOf(reply), { code: -32600, message: `${method}: a task call is still running` })
    }
    peer.send({ jsonrpc: '2.0', id: 9, method: 'tasks.cancel' })
    const interrupted = await peer.next()
    assert.is(interrupted?.id, 1)
    assert.equal(errorOf(interrupted), { code: -32000, message: 'tasks.cancel interrupted the task' })
    assert.equal(await peer.next(), { jsonrpc: '2.0', id: 9, result: { cancelled: true } })
  }))

test('a second start replaces the first', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    await peer.call('tasks.start', { id: 'echo', args: { value: 'one' } })
    await peer.call('tasks.start', { id: 'echo', args: { value: 'two' } })
    assert.equal((await peer.call('tasks.grade', { answer: 'two' }))?.result, { score: 1, content: 'graded' })
  }))

test('a bye ends a grade that runs', () =>
  withServer({}, async ({ dial, environment, server }) => {
    environment.startGate.open()
    const peer = await dial()
    await peer.call('tasks.start', { id: 'slow', args: {} })
    peer.send({ jsonrpc: '2.0', id: 'g', method: 'tasks.grade', params: {} })
    peer.send({ jsonrpc: '2.0', id: 'b', method: 'bye' })
    assert.is(errorOf(await peer.next()).message, 'bye interrupted the task')
    assert.equal((await peer.next())?.result, { goodbye: true })
    assert.is(server.sessionCount(), 0)
  }))

test('a client that has said all it has to say still gets its answers', () =>
  withServer({}, async ({ dial, environment }) => {
    const peer = await dial()
    peer.send({ jsonrpc: '2.0', id: 1, method: 'hello', params: {} })
    peer.send({ jsonrpc: '2.0', id: 2, method: 'tasks.start', params: { id: 'slow', args: {} } })
    peer.socket.end()
    assert.is((await peer.next())?.id, 1)
    environment.startGate.open()
    assert.is((await peer.next())?.id, 2)
    assert.is(await peer.next(), undefined)
  }))

test('one byte at a time gives the same answers, and a notification gets none', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    const text = '{"jsonrpc":"2.0","method":"hello","params":{}}\n{"jsonrpc":"2.0","id":"é","method":"tasks.list"}\n'
    for (const byte of Buffer.from(text)) peer.socket.write(Buffer.of(byte))
    assert.is((await peer.next())?.id, 'é')
  }))

const garbage: readonly [title: string, bytes: Buffer, code: number][] = [
  ['what is not JSON', Buffer.from('GET / HTTP/1.1\n'), -32700],
  ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22, 0x0a]), -32700],
  ['an empty line', Buffer.from('\n'), -32700],
  ['a list', Buffer.from('[]\n'), -32600],
  ['a line over the limit, ended or not', Buffer.alloc(2_000, 0x61), -32000],
]

for (const [title, bytes, code] of garbage)
  test(`${title} is answered with ${code} and the connection closed`, () =>
    withServer({ maxFrameBytes: 1_024 }, async ({ dial, server }) => {
      const peer = await dial()
      await peer.call('hello', {})
      peer.socket.write(bytes)
      const reply = await peer.next()
      assert.is(reply?.id, null)
      assert.is(errorOf(reply).code, code)
      assert.is(await peer.next(), undefined)
      await until(() => server.sessionCount() === 0)
    }))

test('a message that is no request is refused, and the connection goes on', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    peer.send({ jsonrpc: '2.0', id: 5, method: 7 })
    assert.is(errorOf(await peer.next()).code, -32600)
    peer.send({ jsonrpc: '2.0', id: 6, method: 'hello', ch: 3 })
    assert.match(errorOf(await peer.next()).message, 'not agreed to be shared')
    assert.ok((await peer.call('tasks.list'))?.result)
  }))

test('an answer that a foreign peer could not read is an error, and the task is dropped', () =>
  withServer({ foreignFrameBytes: 65_534 }, async ({ dial, environment }) => {
    const peer = await dial()
    assert.ok((await peer.call('tasks.start', { id: 'big', args: { size: 60_000 } }))?.result)
    const error = errorOf(await peer.call('tasks.start', { id: 'big', args: { size: 70_000 } }))
    assert.is(error.code, -32000)
    assert.match(error.message, /the response is a frame of 70\d+ bytes and the peer reads at most 65534/)
    assert.match(environment.events.at(-1) ?? '', 'cancel')
    assert.is(errorOf(await peer.call('tasks.grade', {})).code, -32600)
  }))

test('sessions and connections past the limits are refused with words', () =>
  withServer({ maxSessions: 1, maxConnections: 2 }, async ({ dial }) => {
    const first = await dial()
    await first.call('hello', {})
    const second = await dial()
    assert.match(errorOf(await second.call('hello', {})).message, 'holds 1 sessions at most')
    const third = await dial()
    assert.match(errorOf(await third.next()).message, 'holds 2 connections at most')
    assert.is(await third.next(), undefined)
    await first.call('bye')
    assert.ok((await second.call('hello', {}))?.result)
  }))

test('a port in use, and a host that is not here, are said so', () =>
  withServer({}, async ({ server, environment }) => {
    for (const [listen, tag] of [
      [server.address, 'port-in-use'],
      [{ kind: 'tcp', host: '192.0.2.1', port: 0 }, 'no-such-host'],
    ] as const) {
      try {
        await serveControl(environment, { listen, insecure: true })
        assert.unreachable()
      } catch (error) {
        assert.ok(hasTag(error, tag), String(error))
      }
    }
  }))

test.run()
