import { appendFileSync } from 'node:fs'
import { defineAgent } from '../../src/agents/agent.ts'
import { makeChatAgent } from '../../src/agents/chat/chat-agent.ts'
import { makeTeller, type Place } from './marks.ts'

/** Where the agent tells what, beside the chat agent's own config. */
export interface Telling {
  /** A file that gets the seed of every rollout that begins. */
  readonly starts: string
  readonly last: Place | null
}

/** The chat agent, which tells of its rollouts from the thread that runs it. */
export default defineAgent(({ telling, ...config }) => {
  const { starts, last } = telling as Telling
  const tell = makeTeller(last ?? undefined)
  const agent = makeChatAgent(config)
  return {
    name: agent.name,
    async run(context) {
      appendFileSync(starts, `${context.seed}\n`)
      tell('agent began')
      const answer = await agent.run(context)
      tell('agent answered')
      return answer
    },
  }
})
