import * as assert from 'uvu/assert'
import { chooseAgent } from '../../src/agents/choose-agent.ts'
import { createAgent } from '../../src/agents/create-agent.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'

const test = suite('which agent asks a model')

const HUD = { HUD_API_KEY: 'h' }
const ANTHROPIC = { ANTHROPIC_API_KEY: 'a' }
const OPENAI = { OPENAI_API_KEY: 'o' }
const VLLM = { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1/' }

/** Its kind, its config, and a word that its reason must hold. */
function check(
  name: string,
  env: NodeJS.ProcessEnv,
  kind: string,
  config: Readonly<Record<string, unknown>>,
  reason: RegExp | undefined,
  given: Readonly<Record<string, unknown>> = {},
): void {
  const { why, ...choice } = chooseAgent(name, given, env)
  assert.equal(choice, { kind, config }, name)
  if (reason === undefined) assert.is(why, undefined)
  else assert.match(why ?? '', reason)
}

test('a prefix wins over every key', () => {
  const all = { ...HUD, ...ANTHROPIC, ...OPENAI, ...VLLM }
  for (const env of [{}, all]) {
    check(
      'anthropic/claude-x',
      env,
      'claude',
      { model: 'claude-x' },
      /claude-x by Anthropic's SDK.*begins with anthropic/,
    )
    check('anthropic/other', env, 'claude', { model: 'other' }, /anthropic/)
    check('openai/gpt-x', env, 'openai', { model: 'gpt-x' }, /OpenAI's SDK.*begins with openai/)
    check('hud/org/tiny', env, 'chat', { model: 'org/tiny' }, /HUD's gateway/)
    check('claude-code', env, 'claude-code', {}, /Claude Code CLI/)
    check('claude-code/claude-x', env, 'claude-code', { model: 'claude-x' }, /with claude-x/)
  }
  const place = { inferenceUrl: 'http://127.0.0.1:8000/v1' }
  check('openai-compatible/org/tiny', VLLM, 'chat', { model: 'org/tiny', endpoint: place }, /127\.0\.0\.1:8000/)
  check(
    'openai-compatible/tiny',
    OPENAI,
    'chat',
    { model: 'tiny', endpoint: { inferenceUrl: 'https://api.openai.com/v1', apiKeyVariable: 'OPENAI_API_KEY' } },
    /api\.openai\.com/,
  )
})

test('an endpoint in the config leaves nothing to choose, whatever the name looks like', () => {
  const endpoint = { inferenceUrl: 'http://127.0.0.1:1/v1' }
  for (const name of ['tiny', 'openai/gpt-oss-120b', 'claude-x'])
    check(name, ANTHROPIC, 'chat', { model: name, endpoint }, undefined, { endpoint })
})

test('else a name goes to whose model it is, by its own key before the gateway', () => {
  check('claude-x', { ...ANTHROPIC, ...HUD }, 'claude', { model: 'claude-x' }, /ANTHROPIC_API_KEY is set/)
  check('gpt-5.1', { ...OPENAI, ...HUD }, 'openai', { model: 'gpt-5.1' }, /OPENAI_API_KEY is set/)
  const byHud = { baseUrl: 'https://inference.hud.ai', apiKeyVariable: 'HUD_API_KEY' }
  check('claude-x', HUD, 'claude', { model: 'claude-x', ...byHud }, /HUD_API_KEY is set and ANTHROPIC_API_KEY is not/)
  check(
    'o3',
    HUD,
    'openai',
    { model: 'o3', ...byHud, baseUrl: 'https://inference.hud.ai/v1' },
    /HUD_API_KEY is set and OPENAI_API_KEY is not/,
  )
  check('claude-code', HUD, 'claude-code', byHud, /through HUD's gateway/)
  check('claude-x', {}, 'claude', { model: 'claude-x' }, /ANTHROPIC_API_KEY is what it needs/)
  check('claude-x', HUD, 'claude', { model: 'claude-x', baseUrl: 'http://a' }, /its base URL/, { baseUrl: 'http://a' })
})

test('any other slug goes to HUD, or where OPENAI_BASE_URL points when HUD has no key', () => {
  check('org/tiny', HUD, 'chat', { model: 'org/tiny' }, /HUD's gateway: HUD_API_KEY is set/)
  check('org/tiny', { ...HUD, ...VLLM }, 'chat', { model: 'org/tiny' }, /HUD/)
  check('org/tiny', {}, 'chat', { model: 'org/tiny' }, /HUD_API_KEY is what it needs/)
  const endpoint = { inferenceUrl: 'http://127.0.0.1:8000/v1' }
  check('org/tiny', VLLM, 'chat', { model: 'org/tiny', endpoint }, /OPENAI_BASE_URL is set and HUD_API_KEY is not/)
  const keyed = { ...endpoint, apiKeyVariable: 'OPENAI_API_KEY' }
  check('gpt-oss-20b', { ...VLLM, ...OPENAI }, 'chat', { model: 'gpt-oss-20b', endpoint: keyed }, /8000/)
})

test('an empty variable is no key, and no key is ever in a spec', () => {
  check(
    'claude-x',
    { ANTHROPIC_API_KEY: ' ', ...HUD },
    'claude',
    {
      model: 'claude-x',
      baseUrl: 'https://inference.hud.ai',
      apiKeyVariable: 'HUD_API_KEY',
    },
    /ANTHROPIC_API_KEY is not/,
  )
  const text = JSON.stringify(chooseAgent('claude-x', {}, { ANTHROPIC_API_KEY: 's3cret' }))
  assert.not.match(text, /s3cret/)
})

test('createAgent checks the config and the key of whatever was chosen, and travels as data', () => {
  const before = process.env.ANTHROPIC_API_KEY
  process.env.ANTHROPIC_API_KEY = 'a'
  try {
    const spec = createAgent('anthropic/claude-x', { maxSteps: 3 })
    assert.equal(JSON.parse(JSON.stringify(spec)), spec)
    assert.is(spec.kind, 'claude')
    for (const name of ['anthropic/claude-x', 'openai/gpt-x', 'claude-code'])
      assert.throws(
        () => createAgent(name, { skill: 1, baseUrl: 'http://a' }),
        (error: unknown) => hasTag(error, 'bad-agent-config'),
      )
    delete process.env.ANTHROPIC_API_KEY
    assert.throws(
      () => createAgent('anthropic/claude-x'),
      (error: unknown) => hasTag(error, 'no-key'),
    )
  } finally {
    if (before !== undefined) process.env.ANTHROPIC_API_KEY = before
  }
})

test.run()
