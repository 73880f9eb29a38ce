import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { type McpTools, openMcpTools } from '../../../src/agents/mcp/open-mcp-tools.ts'
import type { BoundTool } from '../../../src/agents/toolbox.ts'
import type { Binding } from '../../../src/wire/binding.ts'
import { suite } from '../../support/suite.ts'
import { failureOf, until } from '../chat/scene.ts'
import { type McpAnswer, type McpServer, startMcpServer } from './mcp-server.ts'

const test = suite('MCP tools')

const ADD = {
  name: 'add',
  description: 'Adds.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number', description: 'second' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
}
const text = (words: string): McpAnswer => ({ content: [{ type: 'text', text: words }] })

/** A session whose capability is reached by a tunnel alone: what its url says is nowhere here. */
function sessionOf(servers: Readonly<Record<string, McpServer>>, params: Binding['params'] = {}) {
  return {
    bindings: Object.keys(servers).map(name => ({
      name,
      protocol: 'mcp/2025-11-25',
      url: 'http://127.0.0.1:1/mcp',
      params: { transport: 'streamable-http', ...params },
    })),
    openTunnel: async (name: string) => connect(servers[name]?.port ?? 0, '127.0.0.1'),
  }
}

async function withServer(
  tools: Parameters<typeof startMcpServer>[0],
  answer: Parameters<typeof startMcpServer>[1],
  options: Parameters<typeof startMcpServer>[2],
  body: (server: McpServer) => Promise<void>,
): Promise<void> {
  const server = await startMcpServer(tools, answer, options)
  try {
    await body(server)
  } finally {
    await server.close()
  }
}

function toolOf(tools: McpTools['tools'], name: string): BoundTool {
  const tool = tools.get(name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool
}

const signal = new AbortController().signal
const none = new Set<string>()

for (const replies of ['json', 'events', 'sse'] as const)
  test(`tools are listed, called and closed through the tunnel, answered as ${replies}`, () =>
    withServer(
      [ADD, { ...ADD, name: 'files.read' }],
      (name, given) => text(`${name} ${JSON.stringify(given)}`),
      { replies, pageSize: 1 },
      async server => {
        const session = sessionOf(
          { tools: server },
          { auth_token: 't0ken', ...(replies === 'sse' ? { transport: 'sse' } : {}) },
        )
        const { tools, close } = await openMcpTools({ session, signal }, none)
        assert.equal([...tools.keys()], ['add', 'files_read'])
        const { chat, run } = toolOf(tools, 'add')
        assert.equal(chat, {
          type: 'function',
          function: { name: 'add', description: 'Adds.', parameters: { ...ADD.inputSchema } },
        })
        assert.equal(await run({ a: 1, b: 2 }), { type: 'done', text: 'add {"a":1,"b":2}' })
        assert.equal(await tools.get('files_read')?.run({}), { type: 'done', text: 'files.read {}' })
        assert.is(server.headers[0]?.authorization, 'Bearer t0ken')
        await close()
        await until(() => server.open === 0)
      },
    ))

test('a tool that fails, a call that is refused and parts that are no text are told to the model', () =>
  withServer(
    [ADD],
    (_name, { a }) => {
      if (a === 1) return { content: [{ type: 'text', text: 'no disk' }], isError: true }
      if (a === 2) return { error: { code: -32_602, message: 'a is wrong' } }
      if (a === 3) return { error: { code: -32_603, message: 'broken' } }
      return {
        content: [
          { type: 'image', data: 'AA==', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'file:///x', text: 'inside' } },
        ],
      }
    },
    {},
    async server => {
      const { tools, close } = await openMcpTools({ session: sessionOf({ tools: server }), signal }, none)
      const run = async (a: number) => {
        const { type, text: words } = (await tools.get('add')?.run({ a })) ?? {}
        return [type, words?.replace(/MCP error -\d+: /, '')]
      }
      assert.equal(await run(1), ['failed', 'no disk'])
      assert.equal(await run(2), ['malformed', 'error: a is wrong'])
      assert.equal(await run(3), ['failed', 'error: broken'])
      assert.equal(await run(4), ['done', '[image image/png]\ninside'])
      await close()
    },
  ))

test('names that are in use are told apart by their server', () =>
  withServer(
    [ADD],
    () => text('one'),
    {},
    one =>
      withServer(
        [ADD],
        () => text('two'),
        {},
        async two => {
          const session = sessionOf({ one, two })
          const { tools, close } = await openMcpTools({ session, signal }, new Set(['bash']))
          assert.equal([...tools.keys()], ['add', 'two_add'])
          assert.is((await tools.get('two_add')?.run({}))?.text, 'two')
          await close()
          const taken = await openMcpTools({ session: sessionOf({ one }), signal }, new Set(['add']))
          assert.equal([...taken.tools.keys()], ['one_add'])
          await taken.close()
        },
      ),
  ))

test('a server that is gone is the sandbox’s loss, and may be tried on a fresh one', () =>
  withServer(
    [ADD],
    () => 'cut',
    {},
    async server => {
      const { tools, close } = await openMcpTools({ session: sessionOf({ tools: server }), signal }, none)
      const error = await failureOf(toolOf(tools, 'add').run({}))
      assert.equal([error.tag, error.data.transient], ['mcp-lost', true])
      await close()
      const session = { ...sessionOf({ tools: server }), openTunnel: () => Promise.reject(new Error('no way')) }
      assert.is((await failureOf(openMcpTools({ session, signal }, none))).tag, 'mcp-lost')
    },
  ))

test('an abort ends a call at once', () =>
  withServer(
    [ADD],
    () => 'silence',
    {},
    async server => {
      const controller = new AbortController()
      const place = { session: sessionOf({ tools: server }), signal: controller.signal }
      const { tools, close } = await openMcpTools(place, none)
      const called = toolOf(tools, 'add').run({})
      await until(() => server.calls.length === 1)
      controller.abort(new Error('deadline'))
      assert.match(String(await called.catch((error: unknown) => error)), 'deadline')
      await close()
    },
  ))

test('a binding without an http URL cannot be used, and says so', async () => {
  const session = { ...sessionOf({}), bindings: [{ name: 'x', protocol: 'mcp/1', url: 'stdio:', params: {} }] }
  const error = await failureOf(openMcpTools({ session, signal }, none))
  assert.is(error.tag, 'binding-not-usable')
})

test.run()
