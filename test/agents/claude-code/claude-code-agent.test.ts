import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { makeClaudeCodeAgent } from '../../../src/agents/claude-code/claude-code-agent.ts'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { Job } from '../../../src/job/job.ts'
import type { Turn } from '../../../src/rollout/trajectory.ts'
import { LocalRuntime } from '../../../src/runtimes/local.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { makePlainWorkspace, type PlainWorkspace } from '../../support/plain-workspace.ts'
import { suite } from '../../support/suite.ts'
import { withFiles } from '../../support/temporary-directory.ts'
import { failureOf } from '../chat/scene.ts'
import { STAND_IN, sayOnly } from './stand-in.ts'

const test = suite('the Claude Code agent')
const env = { ANTHROPIC_API_KEY: 's3cret' }

/** One run in a workspace whose `~/.local/bin` holds the program, or nothing. */
async function withProgram(
  program: string | undefined,
  config: Readonly<Record<string, unknown>>,
  body: (run: { turns: readonly Turn[]; ended: Promise<unknown>; workspace: PlainWorkspace }) => Promise<void>,
  signal = new AbortController().signal,
): Promise<void> {
  const workspace = await makePlainWorkspace()
  try {
    if (program !== undefined) {
      await workspace.write('.local/bin/claude', program)
      await chmod(join(workspace.directory, '.local/bin/claude'), 0o755)
    }
    const turns: Turn[] = []
    const agent = makeClaudeCodeAgent(config, { env })
    const ended = agent.run({
      prompt: 'Mend\n\nsum.sh',
      seed: 1,
      signal,
      shell: async () => workspace.shell,
      record: turn => void turns.push(turn),
    })
    await body({ turns, ended, workspace })
  } finally {
    await workspace.close()
  }
}

test('the program is given the prompt and the key by stdin, and what it did becomes turns', () =>
  withProgram(
    STAND_IN,
    { model: 'claude-x', maxSteps: 7, systemPrompt: "It's so.", disallowedTools: ['WebFetch', 'Bash(git log:*)'] },
    async ({ turns, ended, workspace }) => {
      assert.equal(await ended, { answer: 'Done.', stop: 'done' })
      assert.is(await workspace.read('prompt'), 'Mend\n\nsum.sh')
      assert.equal((await workspace.read('args')).trim().split('\n'), [
        ...['--print', '--verbose', '--output-format', 'stream-json', '--permission-mode', 'bypassPermissions'],
        ...['--model', 'claude-x', '--max-turns', '7', '--append-system-prompt', "It's so."],
        ...['--disallowedTools', 'WebFetch,Bash(git log:*)'],
      ])
      const variables = await workspace.read('variables')
      assert.match(variables, 'ANTHROPIC_API_KEY=s3cret\nANTHROPIC_BASE_URL=https://api.anthropic.com\n')
      assert.match(variables, 'IS_SANDBOX=1')
      assert.equal(
        turns.map(({ role, text, version, toolCalls }) => [role, text, version, toolCalls?.[0]?.result]),
        [
          ['assistant', '', 'claude-sonnet-4-5', undefined],
          ['assistant', 'I mend it.', 'claude-sonnet-4-5', undefined],
          ['tool', '', undefined, 'mended'],
          ['assistant', 'Done.', 'claude-sonnet-4-5', undefined],
        ],
      )
      assert.equal(turns[2]?.toolCalls?.[0]?.arguments, { command: 'sed -i s/-/+/ sum.sh' })
      let before = 0
      for (const { atMs, tookMs } of turns) {
        assert.ok(atMs >= 0 && tookMs >= 0 && atMs + tookMs >= before, `${atMs}+${tookMs}`)
        before = atMs
      }
      assert.not(turns.some(turn => 'tokens' in turn))
    },
  ))

test('where the program is not there, the error names what to install', () =>
  withProgram(undefined, {}, async ({ ended }) => {
    const error = await failureOf(ended)
    assert.is(error.tag, 'agent-program-missing')
    assert.match(error.message, 'npm install -g @anthropic-ai/claude-code')
  }))

test('what it says of the service is told as that, and only its own failure as its own', async () => {
  const result = (text: string, subtype = 'success') => [{ type: 'result', subtype, is_error: true, result: text }]
  for (const [lines, tag] of [
    [result('API Error: 529 overloaded'), 'chat-unavailable'],
    [result('Invalid API key'), 'unauthorized'],
    [result('', 'error_during_execution'), 'agent-program-error'],
    [[], 'agent-program-failed'],
    [['{"type":"assist'], 'agent-program-failed'],
  ] as const)
    await withProgram(sayOnly(lines, 1), {}, async ({ ended }) => {
      const error = await failureOf(ended)
      assert.is(error.tag, tag, error.message)
      if (lines.length === 0) assert.match(error.message, /status 1.*trouble/)
    })
})

test('steps that are used up are an end and no failure', () =>
  withProgram(sayOnly([{ type: 'result', subtype: 'error_max_turns', is_error: false }]), {}, async ({ ended }) =>
    assert.equal(await ended, { answer: '', stop: 'max-steps' }),
  ))

test('an abort ends the program', () => {
  const controller = new AbortController()
  return withProgram(
    '#!/bin/bash\nsleep 60\n',
    {},
    async ({ ended }) => {
      controller.abort(new Error('deadline'))
      assert.match(String(await ended.catch((error: unknown) => error)), 'deadline')
    },
    controller.signal,
  )
})

const ENVIRONMENT = `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('sums', { version: '1.0.0', workspace: true })
export const fix = env.template('fix', { description: 'Fix it.', args: z.object({ program: z.string() }) }, async function* ({ program }, { workspace }) {
  await workspace.write('sum.sh', 'echo $(( $1 - $2 ))\\n')
  if (program !== '') {
    await workspace.write('bin/claude', program)
    await workspace.exec('chmod +x bin/claude')
  }
  yield 'sum.sh should add'
  const { stdout } = await workspace.exec('bash sum.sh 20 22')
  yield stdout.trim() === '42' ? 1 : 0
})
`
const TASKS = `
import { fix } from './env.ts'
const program = ${JSON.stringify(STAND_IN)}
export default [fix({ program }, { slug: 'there' }), fix({ program: '' }, { slug: 'missing' })]
`

test(
  'in a real sandbox it is graded for what it did; a sandbox without it costs the run its reward and is no zero',
  () =>
    withFiles({ 'env.ts': ENVIRONMENT, 'tasks.ts': TASKS }, async directory => {
      process.env.CLAUDE_CODE_TEST_KEY = 's3cret'
      try {
        const taskset = await Taskset.load(join(directory, 'tasks.ts'))
        await using job = await Job.start('cc', { runtime: new LocalRuntime(join(directory, 'env.ts')), threads: 1 })
        const config = { command: '/workspace/bin/claude', apiKeyVariable: 'CLAUDE_CODE_TEST_KEY' }
        const agent = createAgent('claude-code/claude-sonnet-4-5', config)
        await taskset.run(agent, { job, group: 1, seed: 1 })
        const ends = job.runs.map(({ task, agent: name, outcome, reward, stopReason, error }) => [
          ...[task.slug, name, outcome, reward, stopReason, error?.tag],
        ])
        assert.equal(ends.sort(), [
          [
            'missing',
            'claude-code/claude-sonnet-4-5',
            'infrastructure-error',
            null,
            'model-lost',
            'agent-program-missing',
          ],
          ['there', 'claude-code/claude-sonnet-4-5', 'graded', 1, 'done', undefined],
        ])
        assert.not.match(JSON.stringify(job.runs), /s3cret/)
      } finally {
        delete process.env.CLAUDE_CODE_TEST_KEY
      }
    }),
  { deadlineMs: 90_000 },
)

test.run()
