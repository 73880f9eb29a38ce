import { createServer, type Server, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { deliveryOf } from '../../src/models/errors.ts'
import { HttpClient, type HttpOptions } from '../../src/models/http.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { type FakeTrainingService, startFakeTrainingService } from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('http')
const anything = z.unknown()

async function withService(
  body: (service: FakeTrainingService, http: HttpClient, url: (path: string) => string) => Promise<void>,
  options: HttpOptions = {},
): Promise<void> {
  const service = await startFakeTrainingService()
  const http = new HttpClient(options)
  try {
    await body(service, http, path => `${service.url}${path}`)
  } finally {
    await http.close()
    await service.close()
  }
}

test('without its key nothing is sent, and the error names the variable', () =>
  withService(
    async (service, http, url) => {
      const error = await assertRejects(http.get(url('/v2/models'), anything), 'no-key', /Set TROUPE_TEST_KEY/)
      assert.is(error.data.details?.variable, 'TROUPE_TEST_KEY')
      await assertRejects(http.send('POST', url('/v2/models/fork'), '{}', anything), 'no-key')
      assert.is(service.deliveries.length, 0)
      assert.is(service.connections, 0)
    },
    { apiKeyVariable: 'TROUPE_TEST_KEY', env: { TROUPE_TEST_KEY: '' } },
  ))

test('a key that no header could carry is told at once, and nothing of it', async () => {
  for (const key of ['sk-abc…', 'two words', 'one\ntwo', 'schlüssel'])
    await withService(
      async (service, http, url) => {
        const error = await assertRejects(
          http.get(url('/v2/models'), anything),
          'bad-key',
          /TROUPE_TEST_KEY holds characters/,
        )
        assert.not.match(JSON.stringify(error.data), key.slice(0, 3))
        assert.is(service.connections, 0)
      },
      { apiKeyVariable: 'TROUPE_TEST_KEY', env: { TROUPE_TEST_KEY: key } },
    )
})

test('the key is read from the variable, sent, and in no error', () =>
  withService(
    async (service, http, url) => {
      await http.get(url('/v2/models'), anything)
      assert.is(service.deliveries[0]?.headers.authorization, 'Bearer secret-1')
      service.failNext('fork', { type: 'answer', status: 403, body: 'the key secret-1 may not\n  fork' })
      const wrong = url('/v2/models/fork?token=hidden').replace('http://', 'http://user:hidden@')
      const error = await assertRejects(http.send('POST', wrong, '{}', anything), 'unauthorized')
      assert.match(
        error.message,
        /^POST http:\/\/127\.0\.0\.1:\d+\/v2\/models\/fork was answered 403 with: the key \[key\] may not fork/,
      )
      assert.not.match(JSON.stringify(error.data), /hidden|secret-1/)
    },
    { apiKeyVariable: 'TROUPE_TEST_KEY', env: { TROUPE_TEST_KEY: 'secret-1' } },
  ))

test('a GET is made again after what may pass, on one connection, and a bounded number of times', async () => {
  const clock = new VirtualClock()
  await withService(
    async (service, http, url) => {
      service.failNext('models', { type: 'answer', status: 503 })
      service.failNext('models', { type: 'answer', status: 429, headers: { 'retry-after': '3' } })
      const asked = http.get(url('/v2/models'), z.object({ total: z.number() }))
      await until(() => service.count('models') === 1)
      await advanceUntil(clock, 250, () => service.count('models') === 2)
      await advanceUntil(clock, 3_000, () => service.count('models') === 3)
      assert.equal(await asked, { total: 1 })
      assert.is(service.connections, 1)
      for (let each = 0; each < 9; each += 1) service.failNext('models', { type: 'answer', status: 500 })
      const failing = assertRejects(http.get(url('/v2/models'), anything), 'service-error', /answered 500/)
      await advanceUntil(clock, 1_000, () => service.count('models') === 7)
      await failing
      await settle()
      assert.is(service.count('models'), 7)
      assert.is(clock.pending, 0)
    },
    { clock },
  )
})

test('a GET is not made again after what will not pass', () =>
  withService(async (service, http, url) => {
    const error = await assertRejects(http.get(url('/v2/nothing'), anything), 'request-refused', /Not Found/)
    assert.is(error.data.details?.status, 404)
    assert.is(service.deliveries.length, 1)
    await assertRejects(http.get(url('/v2/models'), z.object({ items: z.string() })), 'bad-reply', /items/)
    assert.is(service.deliveries.length, 2)
  }))

test('what is sent is sent once, whatever comes of it', () =>
  withService(async (service, http, url) => {
    const faults = [
      { fault: { type: 'close' }, tag: 'service-unreachable', delivery: 'unknown' },
      { fault: { type: 'answer', status: 500 }, tag: 'service-error', delivery: 'unknown' },
      {
        fault: { type: 'answer', status: 429, headers: { 'retry-after': '2' } },
        tag: 'rate-limited',
        delivery: 'rejected',
      },
      { fault: { type: 'answer', status: 408 }, tag: 'request-refused', delivery: 'unknown' },
      {
        fault: { type: 'answer', status: 302, headers: { location: '/v2/models' } },
        tag: 'request-refused',
        delivery: 'rejected',
      },
      { fault: { type: 'answer', status: 200, body: '<html>' }, tag: 'bad-reply', delivery: 'accepted' },
      {
        fault: { type: 'answer', status: 200, headers: { 'content-length': '9' }, body: '{' },
        tag: 'bad-reply',
        delivery: 'accepted',
      },
    ] as const
    for (const { fault, tag, delivery } of faults) {
      // One that was kept alive and died is what a client is tempted to try again.
      await http.get(url('/v2/models'), anything)
      const before = service.count('fork')
      service.failNext('fork', fault)
      const error = await assertRejects(http.send('POST', url('/v2/models/fork'), '{"a":1}', anything), tag)
      await settle()
      assert.is(service.count('fork'), before + 1, JSON.stringify(fault))
      assert.is(deliveryOf(error), delivery, JSON.stringify(fault))
    }
  }))

test('a connection that is refused, or lost before the last byte, has delivered nothing', () =>
  withService(async (service, http, url) => {
    const body = { bytes: 40_000_000, chunks: Array.from({ length: 40 }, () => new Uint8Array(1_000_000).fill(32)) }
    service.failNext('fork', { type: 'close-early' })
    const lost = await assertRejects(http.send('POST', url('/v2/models/fork'), body, anything), 'service-unreachable')
    assert.is(deliveryOf(lost), 'rejected')
    await service.close()
    const refused = await assertRejects(
      http.send('POST', url('/v2/models/fork'), '{}', anything),
      'service-unreachable',
      /ECONNREFUSED.*not sent whole/,
    )
    assert.is(deliveryOf(refused), 'rejected')
  }))

test('a body has its length in its head, and one that is too large is refused as that', async () => {
  const service = await startFakeTrainingService({ maxBodyBytes: 1_000 })
  await using http = new HttpClient({})
  const url = `${service.url}/v2/models/calc/head`
  try {
    await assertRejects(
      http.send('PUT', url, { bytes: 3, chunks: ['{', ' ', '}'].map(text => Buffer.from(text)) }, anything),
      'request-refused',
    )
    assert.is(service.deliveries[0]?.headers['content-length'], '3')
    assert.is(service.deliveries[0]?.headers['transfer-encoding'], undefined)
    const large = { bytes: 50_000_000, chunks: Array.from({ length: 50 }, () => new Uint8Array(1_000_000).fill(32)) }
    const error = await assertRejects(http.send('PUT', url, large, anything), 'body-too-large', /50000000 bytes/)
    assert.is(deliveryOf(error), 'rejected')
  } finally {
    await service.close()
  }
})

test('every call has a deadline, and what was sent whole by then is of unknown state', async () => {
  const clock = new VirtualClock()
  await withService(
    async (service, http, url) => {
      service.failNext('fork', { type: 'silence' })
      const sent = http.send('POST', url('/v2/models/fork'), '{}', anything)
      const late = assertRejects(sent, 'service-unreachable', /within 5000 ms/)
      await until(() => service.count('fork') === 1)
      await clock.advance(5_000)
      assert.is(deliveryOf(await late), 'unknown')
      assert.is(clock.pending, 0)
    },
    { clock, deadlineMs: 5_000 },
  )
})

test('a body that a server does not read is not delivered at the deadline', async () => {
  const clock = new VirtualClock()
  const silent: Server = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await using http = new HttpClient({ clock, deadlineMs: 1_000 })
  const chunk = new Uint8Array(1_000_000)
  const body = { bytes: 400_000_000, chunks: Array.from({ length: 400 }, () => chunk) }
  const connected = new Promise<Socket>(resolve => void silent.once('connection', socket => resolve(socket.pause())))
  const late = assertRejects(http.send('POST', `http://127.0.0.1:${port}/x`, body, anything), 'service-unreachable')
  const socket = await connected
  await clock.advance(1_000)
  assert.is(deliveryOf(await late), 'rejected')
  socket.destroy()
  await new Promise(resolve => silent.close(resolve))
})

test('a closed client calls nobody', () =>
  withService(async (service, http, url) => {
    await http.get(url('/v2/models'), anything)
    await http.close()
    await assertRejects(http.get(url('/v2/models'), anything), 'client-closed')
    assert.is(service.deliveries.length, 1)
  }))

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await settle()
}

/** Real requests in between need real time; the clock moves only as far as it is told. */
async function advanceUntil(clock: VirtualClock, byMs: number, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await clock.advance(clock.pending > 1 ? byMs : 0)
    await settle()
  }
}

test.run()
