import { type AgentFactory, defineAgent } from '../../../src/agents/agent.ts'

/** Answers at once. Calls no model and records no turn, as the agent on HUD's side. */
const idleAgent: AgentFactory = defineAgent(() => ({
  name: 'idle',
  run: async () => ({ answer: 'done', stop: 'done' }),
}))

export default idleAgent
