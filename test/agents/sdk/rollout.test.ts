import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { Job } from '../../../src/job/job.ts'
import type { RunOptions } from '../../../src/job/options.ts'
import { LocalRuntime } from '../../../src/runtimes/local.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { resultOf, troupe } from '../../support/cli.ts'
import { suite } from '../../support/suite.ts'
import { withFiles } from '../../support/temporary-directory.ts'
import * as claude from '../claude/messages.ts'
import * as openai from '../openai/responses.ts'
import { type SseEvent, type SseRequest, type SseServer, type SseStep, startSseServer } from './sse-server.ts'

const test = suite('agents by official SDKs, end to end')

/** Each starts an engine and a host of its own. */
const SLOW = { deadlineMs: 120_000 }

const ENVIRONMENT = `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('sums', { version: '1.0.0', workspace: true })
export const fix = env.template('fix', { description: 'Fix it.', args: z.object({ n: z.int() }) }, async function* ({ n }, { workspace }) {
  await workspace.write('sum.sh', 'echo $(( $1 - $2 ))\\n')
  yield 'sum.sh should add; this is sum number ' + n
  const { stdout } = await workspace.exec('bash sum.sh ' + n + ' 3')
  yield stdout.trim() === String(n + 3) ? 1 : 0
})
`
const tasks = (count: number) => `
import { fix } from './env.ts'
export default Array.from({ length: ${count} }, (_, index) => fix({ n: index + 1 }))
`

async function withTasks(
  script: SseServer['script'],
  options: RunOptions,
  body: (job: Job, taskset: Taskset, server: SseServer) => Promise<void>,
  count = 2,
): Promise<void> {
  const server = await startSseServer(script)
  try {
    await withFiles({ 'env.ts': ENVIRONMENT, 'tasks.ts': tasks(count) }, async directory => {
      const taskset = await Taskset.load(join(directory, 'tasks.ts'))
      const runtime = new LocalRuntime(join(directory, 'env.ts'))
      await using job = await Job.start('sdk', { runtime, threads: 1, ...options })
      await body(job, taskset, server)
    })
  } finally {
    await server.close()
  }
}

/** A model that goes by what its tools answer: it looks, mends, tries and reports. */
function playClaude(request: SseRequest): SseStep {
  const results = claude.toolResults(request)
  const call = (name: string, input: object) => claude.claudeStep({ text: 'next', calls: [{ name, input }] })
  const editor = 'str_replace_based_edit_tool'
  const steps = [
    () => call('bash', { command: 'mkdir -p sub && cd sub && cat ../sum.sh' }),
    () =>
      results[0]?.includes('$1 - $2')
        ? call(editor, { command: 'str_replace', path: '/workspace/sum.sh', old_str: '-', new_str: '+' })
        : claude.claudeStep({ text: 'lost' }),
    () => call('bash', { command: 'bash ../sum.sh 20 22' }),
  ]
  return steps[results.length]?.() ?? claude.claudeStep({ text: `it says ${results[2]?.trim()}` })
}

function playOpenAi(request: SseRequest): SseStep {
  const results = openai.toolResults(request)
  const isNative = JSON.stringify(request.body.tools).includes('"shell"')
  const call = (name: string, given: object) => openai.openAiStep({ calls: [{ name, arguments: given }] })
  const run = (command: string) => (isNative ? openai.openAiStep({ commands: [command] }) : call('bash', { command }))
  const steps = [
    () => run('cat sum.sh'),
    () =>
      results[0]?.includes('$1 - $2')
        ? call('edit', { filePath: '/workspace/sum.sh', oldString: '-', newString: '+' })
        : openai.openAiStep({ text: 'lost' }),
    () => run('bash sum.sh 20 22'),
  ]
  return steps[results.length]?.() ?? openai.openAiStep({ text: `it says ${results[2]?.trim()}` })
}

interface ProviderCase {
  readonly name: string
  readonly model: string
  readonly config: Readonly<Record<string, unknown>>
  readonly play: (request: SseRequest) => SseStep
  readonly events: readonly SseEvent[]
}

const CASES: readonly ProviderCase[] = [
  {
    name: 'claude',
    model: 'anthropic/claude-sonnet-4-5',
    config: {},
    play: playClaude,
    events: claude.claudeEvents({ text: 'a' }),
  },
  {
    name: 'openai',
    model: 'openai/gpt-5.1',
    config: {},
    play: playOpenAi,
    events: openai.openAiEvents({ text: 'a' }),
  },
  {
    name: 'openai with the native shell',
    model: 'openai/gpt-5.1',
    config: { shell: 'native' },
    play: playOpenAi,
    events: openai.openAiEvents({ text: 'a' }),
  },
]

for (const { name, model, config, play } of CASES)
  test(
    `${name}: mends what is broken in a real sandbox from a thread, streamed, and is graded for it`,
    () =>
      withTasks(play, {}, async (job, taskset, server) => {
        await taskset.run(createAgent(model, { baseUrl: server.url, ...config }), { job, group: 2, seed: 1 })
        assert.equal(
          job.runs.map(({ reward, stopReason, trajectory }) => [reward, stopReason, trajectory.answer]),
          Array(4).fill([1, 'done', 'it says 42']),
        )
        for (const { trajectory } of job.runs)
          assert.equal(
            trajectory.turns.map(({ role }) => role),
            ['assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
          )
      }),
    SLOW,
  )

test(
  'the command line says who is asked and why',
  async () => {
    const server = await startSseServer(playClaude)
    try {
      await withFiles({ 'env.ts': ENVIRONMENT, 'tasks.ts': tasks(2) }, async cwd => {
        const config = JSON.stringify({ baseUrl: server.url })
        const argv = ['eval', 'tasks.ts', 'anthropic/claude-x', '--all', '--no-journal', '--json']
        const { exitCode, stdout, stderr } = await troupe([...argv, '--agent-config', config], { cwd })
        assert.is(exitCode, 0, stderr)
        assert.match(stderr, "agent: claude-x by Anthropic's SDK, because the name begins with anthropic/\n")
        assert.is(resultOf(stdout).runs.graded, 2)
      })
    } finally {
      await server.close()
    }
  },
  SLOW,
)

const FAULTS: readonly {
  readonly what: string
  readonly tag: string
  readonly step: (events: readonly SseEvent[]) => SseStep
}[] = [
  {
    what: '429 for an hour',
    tag: 'chat-unavailable',
    step: () => ({ status: 429, headers: { 'retry-after': '3600' } }),
  },
  { what: '5xx until the deadline', tag: 'chat-unavailable', step: () => ({ status: 503 }) },
  {
    what: 'a stalled stream',
    tag: 'chat-unavailable',
    step: events => ({ events: events.slice(0, 3), end: 'silence' }),
  },
  {
    what: 'truncated JSON',
    tag: 'bad-chat-reply',
    step: events => ({
      events: [...events.slice(0, 2), { event: events[1]?.event ?? '', data: '{"type": "resp' }],
      end: 'early',
    }),
  },
  { what: 'no such model', tag: 'unknown-model', step: () => ({ status: 404 }) },
]

for (const { name, model, config, play, events } of CASES.slice(0, 2))
  test(
    `${name}: a stream that stalls after the first turn is the service's fault too`,
    () =>
      withTasks(
        (request, index) => (index === 0 ? play(request) : { events: events.slice(0, 3), end: 'silence' }),
        { threads: 0, deadlines: { agent: 4_000 } },
        async (job, taskset, server) => {
          const agent = createAgent(model, { baseUrl: server.url, stallMs: 100, ...config })
          await taskset.select(['0']).run(agent, { job, group: 1, seed: 1 })
          assert.equal(
            job.runs.map(({ outcome, reward, stopReason }) => [outcome, reward, stopReason]),
            [['infrastructure-error', null, 'model-lost']],
          )
          assert.match(job.runs[0]?.error?.message ?? '', /stalled: not a word for 100 ms/)
        },
      ),
    SLOW,
  )

for (const { name, model, config, events } of CASES.slice(0, 2))
  test(
    `${name}: ${FAULTS.map(({ what }) => what).join(', ')} cost a run its reward each, and are no zeros`,
    () =>
      withTasks(
        request => faultOf(request).step(events),
        { threads: 0, deadlines: { agent: 4_000 } },
        async (job, taskset, server) => {
          await taskset.run(createAgent(model, { baseUrl: server.url, ...config }), { job, group: 1, seed: 1 })
          assert.equal(
            [...job.runs]
              .sort((one, other) => Number(one.task.args.n) - Number(other.task.args.n))
              .map(({ outcome, reward, stopReason, error }) => [outcome, reward, stopReason, error?.tag]),
            FAULTS.map(({ tag }) => ['infrastructure-error', null, 'model-lost', tag]),
          )
        },
        FAULTS.length,
      ),
    SLOW,
  )

/** Each task meets one of them: its number is in the prompt. */
function faultOf({ body }: SseRequest): (typeof FAULTS)[number] {
  const fault = FAULTS[Number(/sum number (\d+)/.exec(JSON.stringify(body))?.[1]) - 1]
  if (fault === undefined) throw new Error('a prompt without a number')
  return fault
}

test.run()
