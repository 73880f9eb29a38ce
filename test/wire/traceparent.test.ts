/** What a request is part of, on the wire: said to peers that draw spans, and to no others. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import type { SessionSpan, SessionTracer } from '../../src/environment/session-tracer.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import type { JsonObject } from '../../src/wire/json-rpc.ts'
import { suite } from '../support/suite.ts'
import { serveRaw } from './support/raw-peer.ts'
import { withServer } from './support/served-fixture.ts'

const test = suite('traceparent on the control channel')
const parent = (n: number) => `00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333${n}-01`
const welcome = { session_id: 'sess-12345678', env: { name: 'py', version: '0' }, bindings: [] }

/** The params of what a client sends to a peer that answers `hello` with this beside the welcome. */
async function sentTo(troupe: JsonObject | undefined): Promise<ReadonlyMap<unknown, unknown>> {
  const sent = new Map<unknown, unknown>()
  const server = await serveRaw(async peer => {
    for (let request = await peer.next(); request !== undefined; request = await peer.next()) {
      sent.set(request.method, request.params)
      const rest = troupe === undefined ? {} : { troupe }
      const result = request.method === 'hello' ? { ...welcome, ...rest } : { prompt: 'p', score: 1, goodbye: true }
      peer.send({ jsonrpc: '2.0', id: request.id, result })
    }
  })
  const client = makeControlClient()
  try {
    const options = { clock: systemClock, deadlineMs: 10_000, traceparent: parent(1) }
    const session = await client.connect(server.address, options)
    session.carry(parent(2))
    await session.startTask('t', { a: 1 })
    session.carry(parent(3))
    await session.grade('x')
    session.carry(parent(4))
    assert.is(await session.end(), true)
  } finally {
    await client.close()
    await server.close()
  }
  return sent
}

test('a peer that is not ours is told nothing after the hello, whose params it gets as ever', async () => {
  const sent = await sentTo(undefined)
  assert.equal(sent.get('hello'), {
    troupe: { version: 1, multiplex: true, ephemeral: false, traceparent: parent(1) },
  })
  assert.equal(
    ['tasks.start', 'tasks.grade', 'bye'].map(method => sent.get(method)),
    [{ id: 't', args: { a: 1 } }, { answer: 'x' }, {}],
  )
})

test('a peer of ours that draws nothing is told nothing either', async () => {
  const sent = await sentTo({ version: 1, multiplex: false, maxFrameBytes: 1_000_000 })
  assert.equal(sent.get('tasks.start'), { id: 't', args: { a: 1 } })
  assert.equal(sent.get('tasks.grade'), { answer: 'x' })
})

test('a peer that draws is told with each request, by what was carried last', async () => {
  const sent = await sentTo({ version: 1, multiplex: false, maxFrameBytes: 1_000_000, traces: true })
  const troupe = (n: number) => ({ version: 1, traceparent: parent(n) })
  assert.equal(sent.get('tasks.start'), { id: 't', args: { a: 1 }, troupe: troupe(2) })
  assert.equal(sent.get('tasks.grade'), { answer: 'x', troupe: troupe(3) })
  assert.equal(sent.get('bye'), { troupe: troupe(4) })
})

/** Draws into the test. */
function makeTracer() {
  const drawn: (SessionSpan & { readonly failed?: true })[] = []
  const tracer: SessionTracer = {
    async draw(span, work) {
      try {
        const value = await work()
        drawn.push(span)
        return value
      } catch (error) {
        drawn.push({ ...span, failed: true })
        throw error
      }
    },
    close: async () => {},
  }
  return { drawn, tracer }
}

test('a server that draws grants so, and draws each call with what it is part of', async () => {
  const { drawn, tracer } = makeTracer()
  await withServer({ tracer }, async ({ server }) => {
    const client = makeControlClient()
    try {
      const { address } = server
      assert.is(address.kind, 'tcp')
      const options = { clock: systemClock, deadlineMs: 10_000, traceparent: parent(1) }
      const session = await client.connect(address, options)
      session.carry(parent(2))
      await session.startTask('echo', { value: 'a' })
      session.carry(parent(3))
      await session.grade('a')
      session.carry(parent(4))
      await session.startTask('throws', {}).then(
        () => assert.unreachable(),
        () => {},
      )
      await session.end()
    } finally {
      await client.close()
    }
  })
  assert.equal(
    drawn.map(({ name, traceparent, failed }) => [name, traceparent, failed]),
    [
      ['hello', parent(1), undefined],
      ['tasks.start', parent(2), undefined],
      ['tasks.grade', parent(3), undefined],
      ['tasks.start', parent(4), true],
      ['bye', parent(4), undefined],
    ],
  )
  assert.is(drawn[1]?.attributes['troupe.template'], 'echo')
})

test('a server without a tracer answers as ever, whatever it is told', () =>
  withServer({}, async ({ dial }) => {
    const peer = await dial()
    const offer = { version: 1, multiplex: false, ephemeral: true, traceparent: parent(1) }
    const reply = await peer.call('hello', { troupe: offer })
    assert.not.ok(JSON.stringify(reply).includes('traces'))
    const params = { id: 'echo', args: { value: 'a' }, troupe: { version: 1, traceparent: parent(2) } }
    assert.ok((await peer.call('tasks.start', params))?.result)
  }))

test.run()
