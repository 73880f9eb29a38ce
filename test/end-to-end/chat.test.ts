import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import {
  type FakeChatServer,
  type FakeRequest,
  type FakeStep,
  startFakeChatServer,
} from '../support/fake-chat-server.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('a chat agent, end to end')

const ENVIRONMENT = `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('fixes', { version: '1.0.0', workspace: true })
export const fix = env.template('fix', { description: 'Fix it.', args: z.object({ n: z.int() }) }, async function* ({ n }, { workspace }) {
  await workspace.write('src/note.txt', 'value = ' + n + '\\n')
  yield 'double the value'
  const note = await workspace.read('src/note.txt')
  const copy = await workspace.read('new/copy.txt').catch(() => '')
  yield note === 'value = ' + 2 * n + '\\n' && copy === 'x' ? 1 : 0
})
`
const TASKS = `
import { fix } from './env.ts'
export default [1, 2, 3].map(n => fix({ n }))
`

/** Plays a model that goes by what its tools answer. */
function play({ messages }: FakeRequest): FakeStep {
  const results = messages.flatMap(message => (message.role === 'tool' ? [message.content] : []))
  const call = (name: string, given: object): FakeStep => ({ calls: [{ name, arguments: given }], version: 'v7' })
  const file = results[0]?.trim() ?? ''
  const value = Number(/\d+/.exec(results[1] ?? '')?.[0])
  const steps = [
    () => call('glob', { pattern: '*.txt' }),
    () => call('read', { filePath: file }),
    () => call('edit', { filePath: `/workspace/${file}`, oldString: `= ${value}`, newString: `= ${value * 2}` }),
    () => call('write', { filePath: 'new/copy.txt', content: 'x' }),
    () => call('grep', { pattern: 'value', path: 'src' }),
    () => call('bash', { command: 'cat note.txt; false', workdir: 'src' }),
  ]
  return steps[results.length]?.() ?? { text: results.slice(4).join('|'), version: 'v7' }
}

async function withJob(
  script: (request: FakeRequest) => FakeStep,
  body: (job: Job, taskset: Taskset, server: FakeChatServer) => Promise<void>,
): Promise<void> {
  const server = await startFakeChatServer(script)
  try {
    await withFiles({ 'env.ts': ENVIRONMENT, 'tasks.ts': TASKS }, async directory => {
      const taskset = await Taskset.load(join(directory, 'tasks.ts'))
      await using job = await Job.start('chat', {
        runtime: new LocalRuntime(join(directory, 'env.ts')),
        threads: 2,
        journal: join(directory, 'journal'),
      })
      await body(job, taskset, server)
    })
  } finally {
    await server.close()
  }
}

const config = (server: FakeChatServer) => ({
  endpoint: { inferenceUrl: server.url },
  completionKwargs: { max_tokens: 64, extra_body: { return_token_ids: true } },
})

test('works in real sandboxes from threads, and its runs are kept with their tokens', () =>
  withJob(play, async (job, taskset, server) => {
    await taskset.run(createAgent('org/tiny', config(server)), { job, group: 2, seed: 1 })
    assert.equal(
      job.runs.map(({ reward, stopReason, agent }) => [reward, stopReason, agent]),
      Array(6).fill([1, 'done', 'org/tiny']),
    )
    for (const { task, trajectory } of job.runs) {
      const line = `value = ${2 * Number(task.args.n)}`
      assert.is(trajectory.answer, `src/note.txt:1:${line}|${line}\nexit status 1`)
      const turns = trajectory.turns.filter(({ role }) => role === 'assistant')
      assert.is(turns.length, 7)
      let before: readonly number[] = [1000]
      for (const [index, { tokens, version }] of turns.entries()) {
        assert.is(version, 'v7')
        assert.equal([...(tokens?.prompt ?? [])], before)
        assert.is(tokens?.output.length, tokens?.logprobs.length)
        before = [...before, ...(tokens?.output ?? []), 1000 + 2 * (index + 1)]
      }
    }
  }))

test('a model that nobody knows costs the run its reward and not a zero', () =>
  withJob(
    () => ({ status: 404 }),
    async (job, taskset, server) => {
      await taskset.run(createAgent('org/tiny', config(server)), { job, group: 1, seed: 1 })
      assert.equal(
        job.runs.map(({ outcome, reward, stopReason, attempt, error }) => [
          outcome,
          reward,
          stopReason,
          attempt,
          error?.tag,
        ]),
        Array(3).fill(['infrastructure-error', null, 'model-lost', 1, 'unknown-model']),
      )
    },
  ))

test.run()
