import { createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { noteSecret } from '../../../src/redact.ts'
import { openSpans, type SpanData, type SpansPorts } from '../../../src/telemetry/traces/open-spans.ts'
import { suite } from '../../support/suite.ts'
import { startTracesReceiver } from '../../support/traces-receiver.ts'

const test = suite('spans on their way out')

const spanOf = (n: number, given: Partial<SpanData> = {}): SpanData => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: (n + 1).toString(16).padStart(16, '0'),
  name: `span ${n}`,
  startMs: 1_700_000_000_000 + n + 0.25,
  endMs: 1_700_000_000_001 + n + 0.5,
  ...given,
})

function open(to: SpansPorts['to'], given: Partial<SpansPorts> = {}) {
  const failures: unknown[] = []
  const spans = openSpans({
    to,
    serviceName: 'tested',
    resource: { 'troupe.job.id': 'job-1' },
    clock: systemClock,
    sendMs: 500,
    closeMs: 1_000,
    onFailed: error => void failures.push(error),
    ...given,
  })
  return { spans, failures }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof bound === 'object' && bound !== null ? bound.port : 0
}

test('spans arrive as they were given, with their resource, and no connection is left', async () => {
  const receiver = await startTracesReceiver()
  try {
    const { spans, failures } = open(`${receiver.url}/v1/traces`)
    spans.add(spanOf(0, { attributes: { 'a.text': 'x', 'a.number': 2.5 }, kind: 'client' }))
    const error = { type: 'session-lost', message: 'it went away' }
    spans.add(spanOf(1, { parentId: spanOf(0).spanId, error, links: [{ ...spanOf(2), traceFlags: 1 }] }))
    await spans.close()
    await spans.close()
    spans.add(spanOf(3))
    assert.equal(failures, [])
    assert.is(spans.dropped, 0)
    const [first, second, ...more] = receiver.spans
    assert.equal(more, [])
    assert.equal(
      [first?.service, first?.name, first?.kind, first?.parentSpanId, first?.startMs, first?.endMs],
      ['tested', 'span 0', 3, undefined, spanOf(0).startMs, spanOf(0).endMs],
    )
    assert.equal(first?.attributes, { 'a.text': 'x', 'a.number': 2.5 })
    assert.equal([second?.traceId, second?.spanId], [spanOf(1).traceId, spanOf(1).spanId])
    assert.equal([second?.parentSpanId, second?.status], [spanOf(0).spanId, { code: 2, message: 'it went away' }])
    assert.is(second?.attributes['error.type'], 'session-lost')
    assert.equal(
      second?.links.map(({ spanId }) => spanId),
      [spanOf(2).spanId],
    )
    await receiver.left()
  } finally {
    await receiver.close()
  }
})

test('a receiver that is not there is told of once, and costs some time at the end alone', async () => {
  const { spans, failures } = open(`http://127.0.0.1:${await freePort()}/v1/traces`)
  const began = performance.now()
  for (let n = 0; n < 1_500; n += 1) spans.add(spanOf(n))
  const addedMs = performance.now() - began
  await spans.close()
  const tookMs = performance.now() - began
  assert.is(failures.length, 1)
  assert.match(String(failures[0]), 'ECONNREFUSED')
  assert.is(spans.dropped, 1_500)
  assert.ok(tookMs < 4_000, `${addedMs} ms to add, ${tookMs} ms in all`)
})

test('a receiver that never answers is waited for no longer than was said, and nothing of it is left', async () => {
  const receiver = await startTracesReceiver(() => 'silence')
  try {
    const { spans } = open(`${receiver.url}/v1/traces`, { sendMs: 200, closeMs: 300 })
    spans.add(spanOf(0))
    const began = performance.now()
    await spans.close()
    assert.ok(performance.now() - began < 3_000)
    assert.is(spans.dropped, 1)
  } finally {
    await receiver.close()
  }
})

test('a receiver that comes back takes what is drawn from then on', async () => {
  let status = 400
  const receiver = await startTracesReceiver(() => status)
  try {
    const { spans, failures } = open(`${receiver.url}/v1/traces`)
    for (let n = 0; n < 512; n += 1) spans.add(spanOf(n))
    while (failures.length === 0) await new Promise(resolve => setImmediate(resolve))
    status = 200
    spans.add(spanOf(600))
    await spans.close()
    assert.equal(
      receiver.spans.map(({ name }) => name),
      ['span 600'],
    )
    assert.equal([spans.dropped, failures.length], [512, 1])
  } finally {
    await receiver.close()
  }
})

test('what the queue does not hold is dropped and counted, and nobody waits', async () => {
  const receiver = await startTracesReceiver()
  try {
    const { spans } = open(`${receiver.url}/v1/traces`, { sendMs: 10_000, closeMs: 20_000 })
    // In one turn of the loop, in which nothing is sent but the first batch.
    for (let n = 0; n < 10_000; n += 1) spans.add(spanOf(n))
    await spans.close()
    assert.ok(spans.dropped > 0 && spans.dropped < 2_000, String(spans.dropped))
    assert.is(receiver.spans.length + spans.dropped, 10_000)
  } finally {
    await receiver.close()
  }
})

test('somebody else’s exporter is flushed and not shut down', async () => {
  const calls: string[] = []
  const { spans } = open({
    export(batch, done) {
      calls.push(`export ${batch.map(({ name }) => name)}`)
      done({ code: 0 })
    },
    async forceFlush() {
      calls.push('flush')
    },
    async shutdown() {
      calls.push('shutdown')
    },
  })
  spans.add(spanOf(0))
  await spans.close()
  assert.equal([...new Set(calls)], ['export span 0', 'flush'])
  assert.is(spans.dropped, 0)
})

test('no error says a secret, and none is endless', async () => {
  const receiver = await startTracesReceiver()
  try {
    const secret = 'planted-secret-of-the-spans'
    noteSecret(secret)
    const { spans } = open(`${receiver.url}/v1/traces`)
    spans.add(spanOf(0, { error: { type: 'refused', message: `no ${secret} ${'x'.repeat(5_000)}` } }))
    await spans.close()
    const [span] = receiver.spans
    assert.match(span?.status.message ?? '', 'no [hidden] x')
    assert.is(span?.status.message?.length, 1_000)
    assert.not.match(receiver.bodies.join(), secret)
  } finally {
    await receiver.close()
  }
})

test.run()
