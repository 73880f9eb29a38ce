import * as assert from 'uvu/assert'
import { makeChatAgent } from '../../../src/agents/chat/chat-agent.ts'
import { parseChatConfig } from '../../../src/agents/chat/config.ts'
import { makeOrigins } from '../../../src/agents/chat/origins.ts'
import { systemClock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import { oneServer } from '../../../src/models/endpoint.ts'
import { suite } from '../../support/suite.ts'
import { failureOf, withChat } from './scene.ts'

const test = suite('config of the chat agent')

const model = 'org/tiny'

function problem(config: unknown): TroupeError {
  try {
    parseChatConfig(config, {})
  } catch (error) {
    assert.ok(error instanceof TroupeError, String(error))
    return error
  }
  return assert.unreachable() as never
}

test('a field that cannot be used is named', () => {
  for (const [config, name] of [
    [{ modle: 'x' }, /modle/],
    [{ maxSteps: 0 }, /maxSteps/],
    [{ connections: 1.5 }, /connections/],
    [{ tools: ['bash', 'rm'] }, /tools\.1/],
    [{ endpoint: { inferenceUrl: 'nowhere' } }, /endpoint\.inferenceUrl/],
    [{ endpoint: { inferenceUrl: 'http://me:s3cret@127.0.0.1/v1' } }, /inferenceUrl: must have no user/],
    [{ endpoint: { inferenceUrl: 'ftp://127.0.0.1/v1' } }, /endpoint\.inferenceUrl/],
    [{ endpoint: { apiKey: 'secret' } }, /endpoint: .*apiKey/],
    [{ completionKwargs: { model: 'other' } }, /completionKwargs\.model: is set by the agent/],
    [{ completionKwargs: { stream: true, messages: [] } }, /completionKwargs\.messages.*completionKwargs\.stream/],
    [{ completionKwargs: { extra_body: { tools: [] } } }, /completionKwargs\.extra_body\.tools/],
    [{ completionKwargs: { extra_body: 5 } }, /completionKwargs\.extra_body/],
    [{ completionKwargs: { stop: () => 'x' } }, /completionKwargs\.stop: must be plain JSON/],
    [{ requireTokens: true }, /requireTokens: .*return_token_ids/],
  ] as const) {
    const error = problem({ model, ...config })
    assert.is(error.tag, 'bad-agent-config')
    assert.match(error.message, name)
  }
})

test('tokens are required where they are asked for, unless the config says otherwise', () => {
  const tokens = { model, completionKwargs: { extra_body: { return_token_ids: true } } }
  const of = (config: object) => {
    const { wantsTokens, requireTokens } = parseChatConfig(config, {})
    return [wantsTokens, requireTokens]
  }
  assert.equal(
    [of({ model }), of(tokens), of({ ...tokens, requireTokens: false })],
    [
      [false, false],
      [true, true],
      [true, false],
    ],
  )
})

test('HUD’s key goes to HUD alone: another endpoint has its own, or none', () => {
  const of = (endpoint: object, env = {}) => {
    const { url, apiKeyVariable } = parseChatConfig({ model, endpoint }, env)
    return [url, apiKeyVariable]
  }
  const local = 'http://127.0.0.1:1/v1/chat/completions'
  assert.equal(of({}), ['https://inference.hud.ai/v1/chat/completions', 'HUD_API_KEY'])
  assert.equal(of({}, { HUD_GATEWAY_URL: 'http://127.0.0.1:1' }), [local, 'HUD_API_KEY'])
  assert.equal(of({ inferenceUrl: 'http://127.0.0.1:1/v1/' }), [local, undefined])
  assert.equal(of({ ...oneServer('http://127.0.0.1:1') }), [local, undefined])
  assert.equal(of({ inferenceUrl: 'http://127.0.0.1:1/v1', apiKeyVariable: 'MY_KEY' }), [local, 'MY_KEY'])
  assert.equal(of({ apiKeyVariable: 'MY_KEY' }), ['https://inference.hud.ai/v1/chat/completions', 'MY_KEY'])
})

test('a key is read where the agent runs, sent as a bearer’s, missed before anything is sent, and never said', () =>
  withChat([{ status: 401, body: 'bad key s3cret' }], async ({ server }) => {
    const origins = makeOrigins(systemClock)
    const config = { model, endpoint: { inferenceUrl: server.url, apiKeyVariable: 'MY_KEY' } }
    for (const env of [{}, { MY_KEY: ' ' }]) {
      try {
        makeChatAgent(config, { env, origins })
        assert.unreachable()
      } catch (error) {
        assert.ok(error instanceof TroupeError)
        assert.is(error.tag, 'no-key')
        assert.match(error.message, /MY_KEY/)
      }
    }
    assert.is(server.requests.length, 0)
    const agent = makeChatAgent(config, { env: { MY_KEY: 's3cret' }, origins })
    const error = await failureOf(
      agent.run({
        prompt: 'go',
        seed: 1,
        signal: new AbortController().signal,
        shell: () => Promise.reject(new TroupeError({ tag: 'no-shell', message: '' })),
        record: () => {},
      }),
    )
    await origins.close()
    assert.is(server.requests[0]?.headers.authorization, 'Bearer s3cret')
    assert.is(error.tag, 'unauthorized')
    assert.match(error.message, /MY_KEY: bad key \[key\]/)
    assert.not.match(JSON.stringify(error.data), /s3cret/)
  }))

test.run()
