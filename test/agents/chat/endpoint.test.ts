import * as assert from 'uvu/assert'
import { BREAKER } from '../../../src/agents/chat/breaker.ts'
import type { FakeStep } from '../../support/fake-chat-server.ts'
import { suite } from '../../support/suite.ts'
import { settle, VirtualClock } from '../../support/virtual-clock.ts'
import { failureOf, type Scene, until, withChat } from './scene.ts'

const test = suite('the endpoint of the chat agent')

const fine = { text: 'fine' }
const busy = (seconds: string): FakeStep => ({ status: 429, headers: { 'retry-after': seconds } })

/** Keeps how long each pause was to be. */
class PausesClock extends VirtualClock {
  readonly pauses: number[] = []

  override after(delayMs: number, wake: () => void): () => void {
    this.pauses.push(delayMs)
    return super.after(delayMs, wake)
  }
}

/** Runs one rollout, letting each pause pass as soon as it begins; gives how long they were. */
async function runThrough(clock: PausesClock, scene: Scene): Promise<{ pauses: number[]; ended: Promise<unknown> }> {
  const { ended } = scene.run()
  let isOver = false
  const over = () => {
    isOver = true
  }
  ended.then(over, over)
  const before = clock.pauses.length
  for (;;) {
    await until(() => isOver || clock.pending > 0)
    if (isOver) return { pauses: clock.pauses.slice(before), ended }
    await clock.advance(clock.pauses.at(-1) ?? 0)
  }
}

test('a busy server is asked again when it said, seconds or a date, and a little later', () => {
  const clock = new PausesClock(1_700_000_000_000)
  const date = new Date(1_700_000_000_000 + 10_000).toUTCString()
  return withChat(
    [busy('3'), { status: 503, headers: { 'retry-after': date } }, fine],
    async scene => {
      const { pauses, ended } = await runThrough(clock, scene)
      assert.equal(await ended, { answer: 'fine', stop: 'done' })
      const [first = 0, second = 0] = pauses
      assert.ok(first >= 3_000 && first <= 3_750, String(first))
      const toDate = 10_000 - first
      assert.ok(second >= toDate && second <= toDate * 1.25, String(second))
    },
    clock,
  )
})

test('without such a word it backs off, doubling, with chance in it, and the same seed with the same chance', () => {
  const clock = new PausesClock()
  const failing: FakeStep[] = [{ status: 500 }, { drop: true }, { status: 429 }, { status: 502 }, fine]
  return withChat(
    [...failing, ...failing],
    async scene => {
      const { pauses } = await runThrough(clock, scene)
      assert.is(pauses.length, 4)
      for (const [index, pause] of pauses.entries()) {
        const longest = 500 * 2 ** index
        assert.ok(pause >= longest / 2 && pause <= longest, `${index}: ${pause}`)
      }
      assert.equal((await runThrough(clock, scene)).pauses, pauses)
    },
    clock,
  )
})

test('a wait past the bound is not begun: the error names it', () =>
  withChat([busy('3600')], async ({ server, run }) => {
    const error = await failureOf(run().ended)
    assert.is(error.tag, 'chat-unavailable')
    assert.match(error.message, /wait 3600 s.*60 s/)
    assert.is(server.requests.length, 1)
  }))

test('it gives up after two minutes of waiting, and says what it was told last', () => {
  const clock = new PausesClock()
  return withChat(
    [busy('40')],
    async scene => {
      const error = await failureOf((await runThrough(clock, scene)).ended)
      assert.equal([error.tag, error.data.transient], ['chat-unavailable', true])
      assert.match(error.message, /3 attempts.*HTTP 429: status 429/)
    },
    clock,
  )
})

test('what is refused is not asked again, and told apart', () =>
  withChat([], async ({ server, run }) => {
    for (const [status, tag, words] of [
      [404, 'unknown-model', /"org\/tiny": no such thing/],
      [401, 'unauthorized', /HTTP 401/],
      [400, 'chat-refused', /HTTP 400\): no such thing/],
      [413, 'chat-refused', /HTTP 413/],
      [422, 'chat-refused', /HTTP 422/],
    ] as const) {
      const before = server.requests.length
      server.script = [{ status, body: JSON.stringify({ error: { message: 'no such thing' } }) }]
      const error = await failureOf(run().ended)
      assert.is(error.tag, tag)
      assert.match(error.message, words)
      assert.is(server.requests.length - before, 1)
    }
  }))

test('an answer that is no completion is an error that quotes it', () =>
  withChat([], async ({ server, run }) => {
    for (const [body, why] of [
      ['<html>', /no JSON: <html>/],
      ['{"choices": []}', /choices/],
      ['{"choices": [{"message": {"content": 5}}]}', /choices\.0\.message\.content/],
    ] as const) {
      server.script = [{ status: 200, body }]
      const error = await failureOf(run().ended)
      assert.is(error.tag, 'bad-chat-reply')
      assert.match(error.message, why)
    }
  }))

test('an abort during a pause ends it at once', () => {
  const clock = new PausesClock()
  return withChat(
    [{ status: 500 }],
    async ({ run }) => {
      const controller = new AbortController()
      const { ended } = run({ signal: controller.signal })
      await until(() => clock.pending > 0)
      controller.abort(new Error('deadline'))
      const error = await failureOf(ended)
      assert.is(error.tag, 'chat-unavailable')
      assert.match(error.message, /HTTP 500.*deadline/)
      assert.is(clock.pending, 0)
    },
    clock,
  )
})

test('many rollouts of a thread wait at once, each over a connection that the next turn uses again', async () => {
  const WIDTH = 150
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const call = { calls: [{ name: 'read', arguments: { filePath: 'x' } }] }
  await withChat(
    request => (request.messages.length === 1 ? { after: gate, reply: call } : fine),
    async ({ server, run }) => {
      const all = Array.from({ length: WIDTH }, () => run().ended)
      await until(() => server.requests.length === WIDTH)
      open()
      await Promise.all(all)
      assert.equal([server.widest, server.connections, server.requests.length], [WIDTH, WIDTH, 2 * WIDTH])
    },
  )
})

test('connections are capped where the config says so', async () => {
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  await withChat([{ after: gate, reply: fine }], async ({ server, run }) => {
    const all = Array.from({ length: 20 }, () => run({ config: { connections: 4 } }).ended)
    await until(() => server.requests.length === 4)
    await settle(50)
    assert.equal([server.requests.length, server.connections], [4, 4])
    open()
    await Promise.all(all)
    assert.equal([server.widest, server.connections, server.requests.length], [4, 4, 20])
  })
})

test('a dead endpoint is found out once, told to all at once, left alone for a while and then asked by one', () => {
  const clock = new PausesClock()
  return withChat(
    [{ drop: true }],
    async ({ server, run }) => {
      // Two rollouts fail side by side, until both are told.
      const both = [run().ended, run().ended].map(failureOf)
      let over = 0
      for (const each of both)
        void each.then(() => {
          over += 1
        })
      while (over < 2) {
        const seen = server.requests.length
        await until(() => over === 2 || clock.pending > 0)
        await clock.advance(500)
        if (server.requests.length > seen) await until(() => over === 2 || clock.pending === 2 - over)
      }
      assert.ok(clock.now() >= BREAKER.spanMs)
      assert.ok((await Promise.all(both)).some(({ tag }) => tag === 'endpoint-down'))

      const asked = server.requests.length
      const error = await failureOf(run().ended)
      assert.equal([error.tag, error.data.transient], ['endpoint-down', true])
      assert.match(error.message, /\d+ failed attempts in a row.*tried again in \d+ s/)
      assert.is(server.requests.length, asked, 'nothing was sent')

      await clock.advance(BREAKER.cooldownMs)
      let release = () => {}
      server.script = [
        {
          after: new Promise<void>(resolve => {
            release = resolve
          }),
          reply: fine,
        },
      ]
      const probe = run().ended
      await until(() => server.requests.length === asked + 1)
      assert.is((await failureOf(run().ended)).tag, 'endpoint-down')
      release()
      assert.is((await probe).answer, 'fine')
      assert.is((await run().ended).answer, 'fine')
    },
    clock,
  )
})

test('a probe that fails begins another cool-down, and one that is called off leaves the next to try', () => {
  const clock = new PausesClock()
  return withChat(
    [{ drop: true }],
    async scene => {
      const { server, run } = scene
      await failureOf((await runThrough(clock, scene)).ended)
      // One rollout alone gives up before the breaker has seen enough: the second one opens it.
      await failureOf((await runThrough(clock, scene)).ended)
      assert.is((await failureOf(run().ended)).tag, 'endpoint-down')

      await clock.advance(BREAKER.cooldownMs)
      server.script = [{ after: new Promise(() => {}), reply: fine }]
      const asked = server.requests.length
      const controller = new AbortController()
      const calledOff = run({ signal: controller.signal }).ended
      await until(() => server.requests.length === asked + 1)
      controller.abort(new Error('cut'))
      assert.match(String(await calledOff.catch((error: unknown) => error)), 'cut')

      server.script = [{ drop: true }]
      const failed = failureOf(run().ended)
      await until(() => clock.pending > 0)
      assert.is((await failureOf(run().ended)).tag, 'endpoint-down')
      await clock.advance(1_000)
      assert.is((await failed).tag, 'endpoint-down')
      server.script = [fine]
      await clock.advance(BREAKER.cooldownMs)
      assert.is((await run().ended).answer, 'fine')
    },
    clock,
  )
})

test('a short outage that hits many at once is ridden out', () => {
  const clock = new PausesClock()
  return withChat(
    [],
    async ({ server, run }) => {
      server.script = [{ drop: true }]
      const all = Array.from({ length: 30 }, (_, seed) => run({ seed }).ended)
      await until(() => clock.pending === 30)
      server.script = [fine]
      await clock.advance(1_000)
      assert.is((await Promise.all(all)).length, 30)
    },
    clock,
  )
})

test.run()
