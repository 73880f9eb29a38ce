import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type AgentFactory, defineAgent } from '../../src/agents/agent.ts'
import { makeTurn } from '../engine/noop-agent.ts'

const TURNS = 10

/** `[milliseconds, score]` by the seed of the rollout. */
export type Waits = Readonly<Record<string, readonly [ms: number, score: number]>>

/** Takes as long as `config.file` says for its seed, and puts out ten turns of real size. */
const waitingAgent: AgentFactory = defineAgent(config => {
  const waits: Waits = JSON.parse(readFileSync(String(config.file), 'utf8'))
  return {
    name: 'waiting',
    async run({ record, seed, signal }) {
      const [ms, score] = waits[seed] ?? [0, 0]
      await pause(ms, undefined, { signal })
      for (let turn = 0; turn < TURNS; turn += 1) record(makeTurn())
      return { answer: String(score), stop: 'done' }
    },
  }
})

export default waitingAgent
