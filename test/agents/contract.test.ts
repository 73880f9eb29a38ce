import { fileURLToPath } from 'node:url'
import { calcSource } from '../../environments/calc/functions.ts'
import { testSource } from '../../environments/calc/tests.ts'
import { createAgent } from '../../src/agents/create-agent.ts'
import { agentContract } from '../contracts/agent.ts'
import { startFakeChatServer } from '../support/fake-chat-server.ts'
import { suite } from '../support/suite.ts'
import { toolResults as claudeResults, claudeStep } from './claude/messages.ts'
import { toolResults as openAiResults, openAiStep } from './openai/responses.ts'
import { startSseServer } from './sdk/sse-server.ts'

const test = suite('agent contract')
const environments = fileURLToPath(new URL('../../../environments', import.meta.url))

agentContract(test, 'scripted', {
  spec: createAgent('scripted', { commands: ['ls', 'true'], answer: 'done' }),
  prompt: 'go',
  usesShell: true,
})
agentContract(test, 'module: calc repairer', {
  spec: createAgent(`${environments}/calc/repairer.ts`, { skill: 0.5 }),
  prompt: 'fix calc.py',
  files: { 'calc.py': calcSource(['mean']), 'test_calc.py': testSource },
  usesShell: true,
})
agentContract(test, 'module: arith adder', {
  spec: createAgent(`${environments}/arith/adder.ts`),
  prompt: 'What is 2 + 3? Answer with the number alone.',
  usesShell: false,
})
agentContract(test, 'closure', {
  spec: createAgent({ name: 'closure', run: async () => ({ answer: 'x', stop: 'done' }) }),
  prompt: 'go',
  usesShell: false,
})

const model = await startFakeChatServer(({ messages }) =>
  messages.length === 1 ? { calls: [{ name: 'bash', arguments: { command: 'ls' } }] } : { text: 'done' },
)
test.after(() => model.close())
agentContract(test, 'chat', {
  spec: createAgent('org/tiny', {
    endpoint: { inferenceUrl: model.url },
    completionKwargs: { extra_body: { return_token_ids: true } },
  }),
  prompt: 'go',
  usesShell: true,
})

const claude = await startSseServer(request =>
  claudeStep(
    claudeResults(request).length === 0 ? { calls: [{ name: 'bash', input: { command: 'ls' } }] } : { text: 'done' },
  ),
)
test.after(() => claude.close())
agentContract(test, 'claude', {
  spec: createAgent('anthropic/claude-x', { baseUrl: claude.url }),
  prompt: 'go',
  usesShell: true,
})

const openai = await startSseServer(request =>
  openAiStep(
    openAiResults(request).length === 0
      ? { calls: [{ name: 'bash', arguments: { command: 'ls' } }] }
      : { text: 'done' },
  ),
)
test.after(() => openai.close())
agentContract(test, 'openai', {
  spec: createAgent('openai/gpt-x', { baseUrl: openai.url }),
  prompt: 'go',
  usesShell: true,
})

test.run()
