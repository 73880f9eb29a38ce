import { type AgentFactory, defineAgent } from '../../src/agents/agent.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'

const TURNS = 10
const PROMPT_IDS = 1_500
const OUTPUT_IDS = 170

/** Records ten turns of real size (75 KB packed) and, with `waitMs`, waits as a model would. Calls no model. */
const noopAgent: AgentFactory = defineAgent(config => {
  const waitMs = typeof config.waitMs === 'number' ? config.waitMs : 0
  return {
    name: 'noop',
    async run({ record, signal }) {
      if (waitMs > 0) await wait(waitMs, signal)
      for (let turn = 0; turn < TURNS; turn += 1) record(makeTurn())
      return { answer: 'done', stop: 'done' }
    },
  }
})

export default noopAgent

const prompt = Uint32Array.from({ length: PROMPT_IDS }, (_, at) => (at * 7_919) % 150_000)
const output = Uint32Array.from({ length: OUTPUT_IDS }, (_, at) => (at * 104_729) % 150_000)
const logprobs = Float32Array.from({ length: OUTPUT_IDS }, (_, at) => -(at % 13) / 7)

/** A turn whose ids were there already: making them up is no part of what is measured. Packing copies them all the same. */
export function makeTurn(): Turn {
  return { role: 'assistant', text: 'a step', atMs: 0, tookMs: 0, tokens: { prompt, output, logprobs } }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
  })
}
