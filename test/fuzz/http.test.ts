import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { call, create, until, withEmulator } from '../emulator/support/http.ts'
import { trajectory, withServer } from '../policy-server/scene.ts'
import { suite } from '../support/suite.ts'
import { deadlineOf, executed, executionsOf, report, SEED } from './executions.ts'
import { garbage, type HttpTarget, send, spoiled, toTarget } from './http.ts'

const test = suite('fuzz: HTTP bodies')
test.after(report)

interface Route {
  readonly method: string
  readonly path: string
  readonly valid: Readonly<Record<string, unknown>>
}

/** Every body is answered with what was wrong with it, or with what it asked: never with an error of the server's own. */
async function fuzzRoutes(name: string, target: HttpTarget, routes: readonly Route[], usual: number): Promise<void> {
  const request = fc.constantFrom(...routes).chain(({ method, path, valid }) =>
    fc.record({
      method: fc.constant(method),
      path: fc.constant(path),
      body: fc.oneof({ weight: 3, arbitrary: spoiled(valid) }, { weight: 1, arbitrary: garbage }),
      cut: fc.option(fc.nat(40), { nil: undefined, freq: 6 }),
    }),
  )
  const property = fc.asyncProperty(request, async ({ method, path, body, cut }) => {
    executed(name)
    const { status, text } = await send(
      target,
      method,
      path,
      body,
      cut === undefined ? {} : { cut, length: body.length + 1 },
    )
    if (cut !== undefined) return
    assert.ok(status !== undefined && status >= 200 && status < 500, `${method} ${path} ${body}: ${text}`)
  })
  await fc.assert(property, { numRuns: executionsOf(usual), seed: SEED })
}

test(
  'policy server: malformed, mistyped and aborted bodies are refused, and training goes on',
  () =>
    withServer({ bodyLimitBytes: 65_536 }, async ({ server, train, chat }) => {
      const target = toTarget(server.url)
      const { model } = server
      const path = (name: string) => `/v1/models/${model}/train/${name}`
      const inputs = [trajectory(1), trajectory(0, [4, 0])]
      const routes: readonly Route[] = [
        {
          method: 'POST',
          path: path('forward-backward'),
          valid: {
            inputs,
            loss_fn: 'importance_sampling',
            loss_fn_config: {},
            group_size: 2,
            reward_scale: 1,
            num_substeps: 1,
          },
        },
        { method: 'POST', path: path('forward'), valid: { inputs, group_size: 2, reward_scale: 1 } },
        { method: 'POST', path: path('backward'), valid: { forward_id: 'none', weights: [[1]], metrics: {} } },
        {
          method: 'POST',
          path: path('optim-step'),
          valid: { learning_rate: 0.1, beta1: 0.9, beta2: 0.9, eps: 1e-8, weight_decay: 0 },
        },
        {
          method: 'POST',
          path: '/v1/chat/completions',
          valid: {
            model,
            messages: [{ role: 'user', content: 'hi' }],
            max_tokens: 2,
            temperature: 1,
            seed: 1,
            tools: [],
            logprobs: true,
          },
        },
        { method: 'POST', path: '/v2/models/fork', valid: { name: 'a-fork', source_model_id: model } },
        { method: 'PUT', path: `/v2/models/${model}/head`, valid: { checkpoint_id: 'none' } },
      ]
      await fuzzRoutes('policy server bodies', target, routes, 250)
      assert.is((await train('forward-backward', { inputs, group_size: 2 })).status, 200)
      assert.is((await chat({ max_tokens: 2 })).status, 200)
    }),
  deadlineOf(250),
)

test('policy server: a body over the limit is refused before it is read, and slow ones hold nobody up', () =>
  withServer({ bodyLimitBytes: 65_536 }, async ({ server, chat }) => {
    const target = toTarget(server.url)
    const path = '/v1/chat/completions'
    for (const length of [65_537, 2 ** 40]) {
      const { status, text } = await send(target, 'POST', path, Buffer.from('{'), { length })
      assert.is(status, 413, text)
    }
    assert.is((await send(target, 'POST', path, Buffer.from('{}'), { type: 'application/xml' })).status, 415)
    const hangUps = new AbortController()
    const slow = Array.from({ length: 50 }, () =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new ReadableStream({ start: controller => controller.enqueue(Buffer.from('{"model":')) }),
        duplex: 'half',
        signal: hangUps.signal,
      } as RequestInit).catch(() => undefined),
    )
    assert.is((await chat({ max_tokens: 2 })).status, 200)
    hangUps.abort()
    await Promise.all(slow)
    assert.is((await chat({ max_tokens: 2 })).status, 200)
  }))

test(
  'emulator: malformed, mistyped and aborted bodies are refused, and sandboxes go on',
  () =>
    withEmulator(
      {
        quota: { cpu: 24, memory: 48, disk: 72 },
        limits: { authenticated: 1e6, 'sandbox-create': 1e6, 'sandbox-lifecycle': 1e6 },
      },
      async emulator => {
        const { body } = await create(emulator, { name: 'mine' })
        const id = String(body.id)
        await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
        const routes: readonly Route[] = [
          {
            method: 'POST',
            path: '/api/sandbox',
            valid: {
              name: 'other',
              snapshot: 'daytonaio/sandbox',
              target: 'us',
              labels: { a: 'b' },
              env: { A: 'b' },
              autoStopInterval: 5,
              autoDeleteInterval: 0,
              public: false,
            },
          },
          { method: 'PUT', path: `/api/sandbox/${id}/labels`, valid: { labels: { a: 'b' } } },
          { method: 'POST', path: `/api/sandbox/${id}/fork`, valid: { name: 'child' } },
          {
            method: 'POST',
            path: '/api/snapshots',
            valid: { name: 'snap', imageName: 'a:b', cpu: 1, memory: 1, disk: 1, regionId: 'us' },
          },
          { method: 'POST', path: '/api/warm-pools', valid: { snapshot: 'none', pool: 1, target: 'us' } },
          { method: 'POST', path: `/toolbox/${id}/process/session`, valid: { sessionId: 'one' } },
          {
            method: 'POST',
            path: `/toolbox/${id}/process/execute`,
            valid: { command: 'true', cwd: '/', envs: { A: 'b' }, timeout: 5 },
          },
        ]
        await fuzzRoutes(
          'emulator bodies',
          toTarget(emulator.url, { authorization: `Bearer ${emulator.apiKey}` }),
          routes,
          120,
        )
        assert.is((await call(emulator, 'GET', `/api/sandbox/${id}`)).status, 200)
        const { status } = await send(
          toTarget(emulator.url, { authorization: `Bearer ${emulator.apiKey}` }),
          'POST',
          '/api/sandbox',
          Buffer.from('{'),
          { length: 2 ** 40 },
        )
        assert.is(status, 413)
      },
    ),
  deadlineOf(120),
)

test('emulator: who has no key gets no body read', () =>
  withEmulator({}, async emulator => {
    const { status } = await send(toTarget(emulator.url), 'POST', '/api/sandbox', Buffer.from('{'), {
      length: 1_000_000,
    })
    assert.is(status, 401)
  }))

test.run()
