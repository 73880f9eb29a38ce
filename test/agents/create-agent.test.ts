import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { type Agent, type AgentSpec, defineAgent } from '../../src/agents/agent.ts'
import { checkAgent, createAgent, resolveAgent } from '../../src/agents/create-agent.ts'
import { TroupeError } from '../../src/errors.ts'
import { oneServer } from '../../src/models/endpoint.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('agents')

const agent: Agent = { name: 'mine', run: async () => ({ answer: 1, stop: 'done' }) }
const source = `import { defineAgent } from 'troupe'
export default defineAgent(config => ({ name: 'default ' + config.x, run: async () => ({ answer: '', stop: 'done' }) }))
export const other = defineAgent(() => ({ name: 'other', run: async () => ({ answer: '', stop: 'done' }) }))
export const picky = defineAgent(() => { throw new Error('no such model') })
export const half = () => ({ name: 'half' })
export const text = 'text'`

async function failure(act: () => unknown): Promise<TroupeError> {
  try {
    await act()
  } catch (error) {
    assert.ok(error instanceof TroupeError, String(error))
    return error
  }
  return assert.unreachable() as never
}

test('a module becomes data, and is loaded where it runs', async () => {
  await withFiles({ 'agent.ts': source }, async directory => {
    const path = join(directory, 'agent.ts')
    const url = pathToFileURL(path).href
    const spec = createAgent(path, { x: 1 })
    assert.equal(spec, { kind: 'module', url, exportName: 'default', config: { x: 1 } })
    assert.equal(JSON.parse(JSON.stringify(spec)), spec)
    assert.is((await resolveAgent(spec)).name, 'default 1')
    for (const text of [`${path}#other`, `${url}#other`]) {
      assert.equal(createAgent(text), { kind: 'module', url, exportName: 'other', config: {} })
      assert.is((await resolveAgent(createAgent(text))).name, 'other')
    }
  })
})

test('a path with a # in it is a path', async () => {
  await withFiles({ 'a#b.ts': source }, async directory => {
    assert.is((await resolveAgent(createAgent(join(directory, 'a#b.ts')))).name, 'default undefined')
    assert.is((await resolveAgent(createAgent(join(directory, 'a#b.ts#other')))).name, 'other')
  })
})

test('what is no file, no name and no slug is unknown, and told what there is', async () => {
  for (const text of [
    './gone.ts#x',
    '../gone',
    '/gone',
    'file:///gone',
    'gone.ts',
    'gone.mjs#x',
    'a b',
    'a/b/c',
    '',
    '#x',
  ]) {
    const error = await failure(() => createAgent(text, { endpoint: { inferenceUrl: 'http://127.0.0.1:1/v1' } }))
    assert.is(error.tag, 'unknown-agent', text)
    assert.match(error.message, /scripted.*slug.*agent\.ts/)
  }
})

test('a slug is a chat agent, as data that travels and holds no key', async () => {
  process.env.CREATE_AGENT_TEST_KEY = 's3cret'
  const endpoint = { inferenceUrl: 'http://127.0.0.1:1/v1', apiKeyVariable: 'CREATE_AGENT_TEST_KEY' }
  for (const slug of ['tiny', 'org/tiny', 'tiny:v2', 'org/tiny-7b.1:2026', '0b1f6f0e-6a53-4a0f-9f6c-1d5f3a1c2b3d']) {
    const spec = createAgent(slug, { endpoint, maxSteps: 4 })
    assert.equal(spec, { kind: 'chat', config: { model: slug, endpoint, maxSteps: 4 } })
    assert.equal(JSON.parse(JSON.stringify(spec)), spec)
    assert.not.match(JSON.stringify(spec), /s3cret/)
    assert.is((await resolveAgent(spec)).name, slug)
    checkAgent(spec, 4)
  }
  const spec = createAgent('tiny', { endpoint })
  delete process.env.CREATE_AGENT_TEST_KEY
  assert.is((await failure(() => createAgent('tiny', { endpoint }))).tag, 'no-key')
  assert.is((await failure(() => resolveAgent(spec))).tag, 'no-key')
  assert.is((await failure(() => createAgent('tiny', { endpoint, model: 'other' }))).tag, 'bad-agent-config')
  assert.match((await failure(() => createAgent('tiny', { skill: 1 }))).message, /skill/)
})

test('a file that is named like a model is a module', async () => {
  await withFiles({ tiny: '' }, async directory => {
    const before = process.cwd()
    process.chdir(directory)
    try {
      assert.is(createAgent('tiny').kind, 'module')
    } finally {
      process.chdir(before)
    }
  })
})

test('an export that is no factory, a factory that fails and one that makes no agent are told apart', async () => {
  await withFiles({ 'agent.ts': source }, async directory => {
    const of = (name: string) => failure(() => resolveAgent(createAgent(join(directory, `agent.ts#${name}`))))
    const missing = await of('nothing')
    assert.is(missing.tag, 'no-agent')
    assert.match(missing.message, /"nothing".*default.*other/)
    assert.is((await of('text')).tag, 'no-agent')
    assert.match((await of('picky')).message, /cannot use its config: no such model/)
    assert.is((await of('half')).tag, 'not-an-agent')
  })
})

test('a factory with a schema is given what the schema reads, and a mistake is refused by its name', async () => {
  const schema = z.strictObject({ times: z.int().default(2) })
  const factory = defineAgent(schema, ({ times }) => ({ ...agent, name: 'x'.repeat(times) }))
  assert.is((await resolveAgent(createAgent(factory))).name, 'xx')
  assert.is((await resolveAgent(createAgent(factory, { times: 3 }))).name, 'xxx')
  const error = await failure(() => createAgent(factory, { times: 'a', skill: 1 }))
  assert.is(error.tag, 'bad-agent-config')
  assert.match(error.message, /times:.*skill/s)
})

test('an agent or a factory in hand is a closure, which runs without threads only', async () => {
  const factory = defineAgent(({ name }) => ({ ...agent, name: String(name) }))
  const made: readonly AgentSpec[] = [createAgent(agent), createAgent(factory, { name: 'made' })]
  assert.equal(await Promise.all(made.map(async spec => (await resolveAgent(spec)).name)), ['mine', 'made'])
  for (const spec of made) {
    checkAgent(spec, 0)
    const error = await failure(() => checkAgent(spec, 2))
    assert.is(error.tag, 'closure-agent')
    assert.match(error.message, /threads: 0.*module/)
  }
  checkAgent(createAgent('scripted'), 4)
})

test('a model with its endpoint becomes a chat agent there, without a key', () => {
  const served = { model: 'calc', endpoint: oneServer('http://127.0.0.1:1234/'), close: () => {} }
  assert.equal(createAgent(served, { maxSteps: 3 }), {
    kind: 'chat',
    config: {
      model: 'calc',
      maxSteps: 3,
      endpoint: {
        apiUrl: 'http://127.0.0.1:1234',
        rlUrl: 'http://127.0.0.1:1234',
        inferenceUrl: 'http://127.0.0.1:1234/v1',
      },
    },
  })
})

test('a spec passes through, and takes no second config', async () => {
  const spec = createAgent('scripted', { answer: '42' })
  assert.is(createAgent(spec), spec)
  assert.is((await failure(() => createAgent(spec, { answer: '43' }))).tag, 'bad-agent-config')
  assert.is((await failure(() => createAgent(agent, { a: 1 }))).tag, 'bad-agent-config')
  const nothing: unknown = {}
  assert.is((await failure(() => Reflect.apply(createAgent, undefined, [nothing]))).tag, 'not-an-agent')
})

test.run()
