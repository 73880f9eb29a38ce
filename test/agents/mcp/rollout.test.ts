import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { Environment, type ServedEnvironment, serveEnvironment } from '../../../src/environment/index.ts'
import { serveControl } from '../../../src/environment/server.ts'
import { Job } from '../../../src/job/job.ts'
import { UrlRuntime } from '../../../src/runtimes/url.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { startFakeChatServer } from '../../support/fake-chat-server.ts'
import { suite } from '../../support/suite.ts'
import { toolResults as claudeResults, claudeStep } from '../claude/messages.ts'
import { toolResults as openAiResults, openAiStep } from '../openai/responses.ts'
import { type SseRequest, startSseServer } from '../sdk/sse-server.ts'
import { startMcpServer } from './mcp-server.ts'

const test = suite('agents with MCP tools, end to end')

/** An environment of one task, whose answer only its MCP server knows. */
function servedWith(mcpPort: number): ServedEnvironment {
  const environment = new Environment('vault', { version: '1.0.0' })
  environment.template('open', {}, async function* () {
    const answer: unknown = yield 'What is in the vault?'
    yield answer === 'gold' ? 1 : 0
  })
  const served = serveEnvironment(environment)
  return {
    ...served,
    async openSession(id) {
      const session = await served.openSession(id)
      const url = 'http://127.0.0.1:9/mcp'
      const binding = { name: 'vault', protocol: 'mcp/2025-11-25', url, params: { transport: 'streamable-http' } }
      return {
        bindings: [binding],
        get hasTask() {
          return session.hasTask
        },
        start: (...given) => session.start(...given),
        grade: (...given) => session.grade(...given),
        cancel: () => session.cancel(),
        close: () => session.close(),
      }
    },
    connectCapability: async () => connect(mcpPort, '127.0.0.1'),
  }
}

async function runWith(agentFor: (url: string) => ReturnType<typeof createAgent>, url: string): Promise<Job['runs']> {
  const mcp = await startMcpServer(
    [{ name: 'peek', description: 'Looks inside.', inputSchema: { type: 'object', properties: {} } }],
    () => ({ content: [{ type: 'text', text: 'gold' }] }),
  )
  const served = servedWith(mcp.port)
  const server = await serveControl(served, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
  try {
    const { address } = server
    if (address.kind !== 'tcp') throw new Error('not what was asked')
    await using job = await Job.start('mcp', { runtime: new UrlRuntime(`127.0.0.1:${address.port}`), threads: 1 })
    const taskset = new Taskset('vault', [{ env: 'vault', id: 'open', args: {}, slug: 'open' }])
    await taskset.run(agentFor(url), { job, group: 2, seed: 1 })
    assert.is(mcp.calls.length, 2)
    return job.runs
  } finally {
    await server.close()
    await served.close()
    await mcp.close()
  }
}

const check = (runs: Job['runs']) =>
  assert.equal(
    runs.map(({ reward, stopReason, trajectory }) => [reward, stopReason, trajectory.turns[1]?.toolCalls?.[0]?.name]),
    Array(2).fill([1, 'done', 'peek']),
  )

test('chat', async () => {
  const model = await startFakeChatServer(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool' ? { text: last.content } : { calls: [{ name: 'peek', arguments: {} }] }
  })
  try {
    check(await runWith(inferenceUrl => createAgent('tiny', { endpoint: { inferenceUrl } }), model.url))
    assert.equal(
      model.requests[0]?.tools?.map(tool => tool.function.name),
      ['peek'],
    )
  } finally {
    await model.close()
  }
})

test('claude and openai', async () => {
  const play = (request: SseRequest) => {
    if (request.path === '/responses') {
      const [found] = openAiResults(request)
      return openAiStep(found === undefined ? { calls: [{ name: 'peek', arguments: {} }] } : { text: found })
    }
    const [found] = claudeResults(request)
    return claudeStep(found === undefined ? { calls: [{ name: 'peek', input: {} }] } : { text: found })
  }
  const model = await startSseServer(play)
  try {
    check(await runWith(baseUrl => createAgent('anthropic/claude-x', { baseUrl }), model.url))
    check(await runWith(baseUrl => createAgent('openai/gpt-x', { baseUrl }), model.url))
  } finally {
    await model.close()
  }
})

test.run()
