import type { Agent } from '../../agents/agent.ts'
import { type Clock, sleep } from '../../clock.ts'

/** Works on nothing, for as long as `durationMs` says of the rollout with that seed. */
export function makeWaitingAgent(clock: Clock, durationMs: (seed: number) => number): Agent {
  return {
    name: 'waiting',
    async run({ seed, signal }) {
      await sleep(clock, durationMs(seed), signal)
      return { answer: '0', stop: 'done' }
    },
  }
}
