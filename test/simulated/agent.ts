import type { Agent } from '../../src/agents/agent.ts'
import { TroupeError } from '../../src/errors.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'
import type { SimulatedNode } from './node.ts'
import type { RolloutFaults } from './scenario.ts'
import type { World } from './world.ts'

/** From so many ids on, a packed trajectory is handed over and not copied. */
const MANY_IDS = 1_200

/** What a turn says that was recorded when nobody wanted it any more: it is never to be seen. */
export const LATE = 'late'

/** Works for drawn times, throws, finds no model, or stays beyond its deadline without a look at its signal. */
export function simulatedAgent(world: World, node: SimulatedNode, faults: RolloutFaults): Agent {
  return {
    name: 'simulated',
    async run({ seed, signal, record }) {
      const isHung = world.chance(faults.hungAgents)
      const turns = world.whole(1, 3)
      for (let turn = 0; turn < turns; turn += 1) {
        await node.wait(
          world.duration(faults.agentMs / turns),
          `agent ${seed} works`,
          // One that hangs hears nothing of its deadline.
          isHung ? {} : { signal },
        )
        record(makeTurn(signal.aborted ? LATE : `turn ${turn}`, world.chance(faults.large)))
      }
      if (isHung) {
        await node.wait(200_000, `agent ${seed} comes to`)
        record(makeTurn(signal.aborted ? LATE : 'after all', false))
      }
      if (world.chance(faults.lostModels))
        throw new TroupeError({ tag: 'chat-unavailable', message: 'no model today', transient: world.chance(0.7) })
      if (world.chance(faults.failedAgents)) throw new Error('the agent has a defect')
      return { answer: { seed }, stop: 'done' }
    },
  }
}

function makeTurn(text: string, isLarge: boolean): Turn {
  const turn: Turn = { role: 'assistant', text, atMs: 0, tookMs: 0 }
  if (!isLarge) return turn
  const output = new Uint32Array(MANY_IDS)
  return { ...turn, tokens: { prompt: new Uint32Array(0), output, logprobs: new Float32Array(MANY_IDS) } }
}
