import * as assert from 'uvu/assert'
import { z } from 'zod'
import { Environment, isEnvironment } from '../../src/environment/environment.ts'
import { serveEnvironment } from '../../src/environment/serve-environment.ts'
import type { StructuredAnswer, TaskLife } from '../../src/environment/template.ts'
import type { OpenWorkspace, Workspace, WorkspaceHost } from '../../src/environment/workspace.ts'
import { type ErrorData, hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'

const test = suite('environments')
const never = new AbortController().signal

function makeEnvironment() {
  const environment = new Environment('shop', { version: '2.0.0' })
  const order = environment.template(
    'order',
    {
      description: 'Order things.',
      args: z.object({ item: z.string(), count: z.int().min(1), gift: z.boolean().default(false) }),
      columns: ({ count }) => ({ size: count > 9 ? 'big' : 'small' }),
    },
    async function* ({ item, count, gift }) {
      const answer = yield `${count} ${item}${gift ? ', wrapped' : ''}`
      yield answer === 'ok' ? 1 : 0
    },
  )
  const greet = environment.template('greet', {}, async function* () {
    yield 'hello'
    yield 1
  })
  return { environment, order, greet }
}

test('a template makes task rows, with columns and a slug', () => {
  const { order, greet } = makeEnvironment()
  assert.equal(order({ item: 'tea', count: 12 }), {
    env: 'shop',
    id: 'order',
    args: { item: 'tea', count: 12 },
    slug: 'order-33d813ee',
    columns: { size: 'big' },
  })
  assert.equal(greet(undefined, { slug: 'hello', columns: { a: 1 } }), {
    env: 'shop',
    id: 'greet',
    args: {},
    slug: 'hello',
    columns: { a: 1 },
  })
})

test('arguments that do not fit are told of all at once, before anything runs', () => {
  const { environment, order } = makeEnvironment()
  const wrong: unknown = { count: 0, colour: 'red' }
  try {
    Reflect.apply(order, undefined, [wrong])
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'bad-arguments'))
    for (const part of [/item:/, /count:/, /colour: no such argument/]) assert.match(error.message, part)
  }
  const served = serveEnvironment(environment)
  assert.is(served.checkTask('order', { count: 0, colour: 'red' }).length, 3)
  assert.equal(served.checkTask('order', { item: 'tea', count: 1 }), [])
  assert.is(served.checkTask('greet', { name: 'you' }).length, 1)
  assert.match(served.checkTask('buy', {})[0] ?? '', /unknown template "buy".*"order", "greet"/)
})

test('tasks are listed with the JSON Schemas of arguments and answers', () => {
  const { environment } = makeEnvironment()
  environment.template('ask', { returns: z.object({ n: z.number() }) }, async function* (): TaskLife<
    StructuredAnswer<{ n: number }>
  > {
    yield 'n?'
  })
  const [order, greet, ask] = serveEnvironment(environment).tasks()
  assert.is(order?.id, 'order')
  assert.is(order?.description, 'Order things.')
  assert.equal(order?.args?.required, ['item', 'count'])
  assert.is(order?.args?.additionalProperties, false)
  assert.equal(greet?.args?.properties, {})
  assert.equal(ask?.returns?.required, ['n'])
})

test('defaults are filled in when the task starts', async () => {
  const { environment } = makeEnvironment()
  const session = await serveEnvironment(environment).openSession('sess-1')
  assert.equal(await session.start('order', { item: 'tea', count: 2 }, never), { prompt: '2 tea' })
  await session.close()
})

test('a start that cannot be leaves the task in progress alone', async () => {
  const { environment } = makeEnvironment()
  const session = await serveEnvironment(environment).openSession('sess-1')
  await session.start('greet', {}, never)
  for (const [id, tag] of [
    ['order', 'bad-arguments'],
    ['nothing', 'unknown-template'],
  ] as const) {
    const error = await session.start(id, {}, never).catch((thrown: unknown) => thrown)
    assert.ok(hasTag(error, tag))
  }
  assert.is(session.hasTask, true)
  await session.close()
})

test('mistakes of the author are told when the file is loaded', () => {
  const { environment } = makeEnvironment()
  const body = async function* () {
    yield 'hello'
  }
  const tagOf = (act: () => unknown) => {
    try {
      act()
    } catch (error) {
      return hasTag(error, 'duplicate-template') || hasTag(error, 'bad-name') || hasTag(error, 'bad-template')
        ? error.tag
        : error
    }
    return undefined
  }
  assert.is(
    tagOf(() => environment.template('greet', {}, body)),
    'duplicate-template',
  )
  assert.is(
    tagOf(() => environment.template('', {}, body)),
    'bad-name',
  )
  assert.is(
    tagOf(() => new Environment('')),
    'bad-name',
  )
  const plain: unknown = async () => 'hello'
  assert.is(
    tagOf(() => Reflect.apply(environment.template, environment, ['x', {}, plain])),
    'bad-template',
  )
})

test('an environment is known by its brand, from whichever copy of the package', () => {
  assert.ok(isEnvironment(makeEnvironment().environment))
  assert.not.ok(isEnvironment({ name: 'shop', templates: new Map() }))
  assert.not.ok(isEnvironment(null))
})

test('hooks run at the start of a session, after grade and cancel, and at its end', async () => {
  const { environment } = makeEnvironment()
  const log: string[] = []
  environment.onSessionStart(({ sessionId }) => void log.push(`start ${sessionId}`))
  environment.onTeardown((_, reason) => void log.push(reason))
  const session = await serveEnvironment(environment).openSession('sess-1')
  await session.start('greet', {}, never)
  await session.grade({ answer: '' }, never)
  await session.start('greet', {}, never)
  await session.cancel()
  await session.cancel()
  await session.close()
  assert.equal(log, ['start sess-1', 'graded', 'cancelled', 'closed'])
})

test('a teardown hook that fails or hangs stops no other', async () => {
  const { environment } = makeEnvironment()
  const log: string[] = []
  environment.onTeardown(() => Promise.reject(new Error('no')))
  environment.onTeardown(() => new Promise(() => {}))
  environment.onTeardown(() => void log.push('last'))
  const problems: ErrorData[] = []
  const served = serveEnvironment(environment, undefined, { teardownMs: 20, onError: error => problems.push(error) })
  const session = await served.openSession('sess-1')
  await session.close()
  assert.equal(log, ['last'])
  assert.equal(
    problems.map(({ tag }) => tag),
    ['teardown-failed', 'teardown-timeout'],
  )
})

/** Counts what is open; the workspaces themselves do nothing. */
function countingHost(): WorkspaceHost & { opened: number; closed: number } {
  const host = {
    opened: 0,
    closed: 0,
    preflight: async () => {},
    async open(): Promise<OpenWorkspace> {
      host.opened += 1
      const close = async () => {
        host.closed += 1
      }
      const workspace: Workspace = {
        directory: '/nowhere',
        read: async () => '',
        write: async () => {},
        remove: async () => {},
        exec: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
        runClean: async () => ({ exitCode: 0, stdout: '', stderr: '', collected: new Map() }),
      }
      return { workspace, bindings: [], close }
    },
    connect: () => Promise.reject(new Error('not here')),
    close: async () => {},
  }
  return host
}

test('a session that a start hook refuses gives its workspace back', async () => {
  const environment = new Environment('shop', { workspace: true })
  environment.onSessionStart(() => Promise.reject(new Error('closed today')))
  const host = countingHost()
  const refused = await serveEnvironment(environment, host)
    .openSession('sess-1')
    .catch((error: unknown) => error)
  assert.match(String(refused), /closed today/)
  assert.equal([host.opened, host.closed], [1, 1])
})

test('workspaces need a host, and without one there is no capability', async () => {
  try {
    serveEnvironment(new Environment('shop', { workspace: true }))
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'no-workspace-host'))
  }
  const served = serveEnvironment(new Environment('shop'))
  const error = await served.connectCapability('shell').catch((thrown: unknown) => thrown)
  assert.ok(hasTag(error, 'unknown-capability'))
})

test.run()
