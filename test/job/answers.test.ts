import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { promptMessages } from '../../src/agents/prompt.ts'
import { Environment } from '../../src/environment/environment.ts'
import { z } from '../../src/environment/index.ts'
import type { StructuredAnswer, TaskLife } from '../../src/environment/template.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { InProcessRuntime } from '../../src/testing/index.ts'
import { startFakeChatServer } from '../support/fake-chat-server.ts'
import { suite } from '../support/suite.ts'

const test = suite('job: prompts and answers')

interface Sum {
  readonly sum: number
}

function makeEnvironment() {
  const env = new Environment('sums')
  env.template(
    'add',
    { args: z.object({ a: z.int(), b: z.int() }), returns: z.object({ sum: z.number() }) },
    async function* ({ a, b }): TaskLife<StructuredAnswer<Sum>> {
      const { content, raw } = yield `${a} + ${b}?`
      if (typeof content === 'string') yield { score: 0, info: { unread: raw } }
      else yield { score: content.sum === a + b ? 1 : 0.5, info: { read: content.sum } }
    },
  )
  env.template('talk', {}, async function* () {
    const answer = yield {
      prompt: [
        { role: 'system', content: 'You add.' },
        { role: 'user', content: [{ type: 'text', text: '2 + 2?' }] },
      ],
      hint: 'not for models',
    }
    yield String(answer) === '4' ? 1 : 0
  })
  env.template('noise', {}, async function* () {
    yield [{ role: 'user', content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }]
    yield 0
  })
  return env
}

const add = (a: number, b: number) => ({ env: 'sums', id: 'add', args: { a, b }, slug: `${a}+${b}` })

test('a typed template grades the parsed answer of a model, and the raw text of one that does not fit', async () => {
  const server = await startFakeChatServer(request => {
    const asked = String(request.messages[0]?.content)
    if (asked.startsWith('1 + 1')) return { text: '{"sum": 2}' }
    if (asked.startsWith('2 + 2')) return { text: 'It is\n```json\n{"sum": 5}\n```' }
    return { text: asked.startsWith('3') ? '{"total": 6}' : 'about eight' }
  })
  try {
    const agent = createAgent('org/tiny', { endpoint: { inferenceUrl: server.url } })
    const taskset = new Taskset('sums', [add(1, 1), add(2, 2), add(3, 3), add(4, 4)])
    const job = await taskset.run(agent, { runtime: new InProcessRuntime(makeEnvironment()), threads: 0, seed: 1 })
    const runs = new Map(job.runs.map(({ task, reward, trajectory }) => [task.slug, { reward, ...trajectory }]))
    assert.equal(
      ['1+1', '2+2', '3+3', '4+4'].map(slug => [
        runs.get(slug)?.reward,
        runs.get(slug)?.answer,
        runs.get(slug)?.grade?.info,
      ]),
      [
        [1, { sum: 2 }, { read: 2 }],
        [0.5, { sum: 5 }, { read: 5 }],
        [0, { total: 6 }, { unread: '{"total":6}' }],
        [0, 'about eight', { unread: 'about eight' }],
      ],
    )
    const [request] = server.requests
    assert.match(String(request?.messages[0]?.content), /JSON Schema:\n\{"type":"object","properties":\{"sum"/)
    assert.is(Object(request?.raw.response_format).type, 'json_schema')
    // The trajectory keeps what the template said, and not what was added for the model.
    assert.is(runs.get('1+1')?.prompt, '1 + 1?')
    await job.close()
  } finally {
    await server.close()
  }
})

test('an agent of one’s own is told the schema, and may answer with an object', async () => {
  const told: unknown[] = []
  const agent = createAgent({
    name: 'own',
    async run({ returns }) {
      told.push(returns?.type)
      return { answer: { sum: 2 }, stop: 'done' }
    },
  })
  const tasks = [add(1, 1), { env: 'sums', id: 'talk', slug: 'talk' }]
  const runtime = new InProcessRuntime(makeEnvironment())
  const job = await new Taskset('sums', tasks).run(agent, { runtime, threads: 0, seed: 1 })
  assert.equal(told.sort(), ['object', undefined])
  assert.is(job.runs.find(({ task }) => task.id === 'add')?.reward, 1)
  await job.close()
})

test('messages reach the model with their roles, and the trajectory as the template said them', async () => {
  const server = await startFakeChatServer([{ text: '4' }])
  try {
    const agent = createAgent('org/tiny', { endpoint: { inferenceUrl: server.url } })
    const taskset = new Taskset('talk', [{ env: 'sums', id: 'talk' }])
    const job = await taskset.run(agent, { runtime: new InProcessRuntime(makeEnvironment()), threads: 0 })
    const [run] = job.runs
    assert.equal(server.requests[0]?.messages, [
      { role: 'system', content: 'You add.' },
      { role: 'user', content: '2 + 2?' },
    ])
    assert.equal(run?.trajectory.prompt, [
      { role: 'system', content: 'You add.' },
      { role: 'user', content: [{ type: 'text', text: '2 + 2?' }] },
    ])
    assert.is(promptMessages(run?.trajectory.prompt).length, 2)
    assert.is(run?.reward, 1)
    await job.close()
  } finally {
    await server.close()
  }
})

test('a prompt that no model can be shown is no zero of the model’s', async () => {
  const server = await startFakeChatServer([{ text: 'x' }])
  try {
    const agent = createAgent('org/tiny', { endpoint: { inferenceUrl: server.url } })
    const taskset = new Taskset('noise', [{ env: 'sums', id: 'noise' }])
    const job = await taskset.run(agent, { runtime: new InProcessRuntime(makeEnvironment()), threads: 0 })
    const [run] = job.runs
    assert.equal([run?.outcome, run?.reward, server.requests.length], ['environment-error', null, 0])
    assert.match(run?.error?.message ?? '', /block of type "audio"/)
    await job.close()
  } finally {
    await server.close()
  }
})

test.run()
