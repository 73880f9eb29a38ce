import * as assert from 'uvu/assert'
import type { AgentSpec } from '../../src/agents/agent.ts'
import { createAgent } from '../../src/agents/create-agent.ts'
import { taskConfigProblems, withTaskConfig } from '../../src/agents/task-config.ts'
import { DEFAULT_DEADLINES, withTaskDeadlines } from '../../src/rollout/deadlines.ts'
import type { Task } from '../../src/taskset/task.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('agents: what rows tell them')

const taskOf = (config?: Readonly<Record<string, unknown>>, slug = 'one'): Task => ({
  env: 'e',
  id: 't',
  args: {},
  slug,
  ...(config === undefined ? {} : { agent_config: config }),
})
const chat: AgentSpec = {
  kind: 'chat',
  config: {
    model: 'org/m',
    endpoint: { inferenceUrl: 'http://127.0.0.1:1/v1' },
    maxSteps: 9,
    systemPrompt: 'Be brief.',
  },
}

test('a row’s config is laid over the agent’s, HUD’s names are ours, and the time is the rollout’s', () => {
  const task = taskOf({ max_steps: 3, timeout_seconds: 2.5 })
  const { config } = withTaskConfig(chat, task) as Extract<AgentSpec, { readonly kind: 'chat' }>
  assert.equal(config, { ...chat.config, maxSteps: 3 })
  assert.is(withTaskConfig(chat, taskOf()), chat)
  assert.is(withTaskConfig(chat, taskOf({ timeout_seconds: 5 })), chat)
  assert.equal(withTaskDeadlines(DEFAULT_DEADLINES, task), { ...DEFAULT_DEADLINES, agent: 2_500 })
  assert.is(withTaskDeadlines(DEFAULT_DEADLINES, taskOf({ max_steps: 3 })), DEFAULT_DEADLINES)
})

test('what an agent does not know is refused with the row’s slug, before it is asked anything', async () => {
  const problems = await taskConfigProblems(chat, [
    taskOf({ max_steps: 3 }, 'fine'),
    taskOf({ max_stepz: 3 }, 'misspelt'),
    taskOf({ maxSteps: 0 }, 'none'),
    taskOf({ timeout_seconds: 5 }, 'time'),
  ])
  assert.is(problems.length, 2)
  assert.match(problems[0] ?? '', /^misspelt: agent_config: .*maxStepz/)
  assert.match(problems[1] ?? '', /^none: agent_config: .*maxSteps/)
  const scripted = createAgent('scripted', { answer: 'x' })
  assert.equal(await taskConfigProblems(scripted, [taskOf({ answer: 'y' })]), [])
  assert.match((await taskConfigProblems(scripted, [taskOf({ max_steps: 1 })])).join(), /one: agent_config: .*maxSteps/)
})

test('a row cannot send the agent’s key elsewhere', async () => {
  for (const config of [
    { endpoint: { inferenceUrl: 'http://elsewhere.example/v1', apiKeyVariable: 'HUD_API_KEY' } },
    { base_url: 'http://elsewhere.example' },
    { api_key_variable: 'AWS_SECRET_ACCESS_KEY' },
  ])
    assert.match((await taskConfigProblems(chat, [taskOf(config)])).join(), /is the agent's own to say, and no row's/)
})

test('an agent that is made already can only be given its time', async () => {
  const made = createAgent({ name: 'made', run: async () => ({ answer: '', stop: 'done' }) })
  assert.equal(await taskConfigProblems(made, [taskOf({ timeout_seconds: 5 })]), [])
  assert.match((await taskConfigProblems(made, [taskOf({ max_steps: 1 })])).join(), /"made" is made already/)
})

test('a module’s own config is as its author named it', () =>
  withFiles(
    {
      'agent.mjs': `export default config => {
        const unknown = Object.keys(config).filter(name => name !== 'max_tries')
        if (unknown.length > 0) throw new Error('unknown: ' + unknown)
        return { name: 'own', run: async () => ({ answer: config.max_tries, stop: 'done' }) }
      }`,
    },
    async directory => {
      const agent = createAgent(`${directory}/agent.mjs`, { max_tries: 1 })
      assert.equal(await taskConfigProblems(agent, [taskOf({ max_tries: 2 })]), [])
      assert.match(
        (await taskConfigProblems(agent, [taskOf({ tries: 2 })])).join(),
        /one: agent_config: .*unknown: tries/,
      )
    },
  ))

test.run()
