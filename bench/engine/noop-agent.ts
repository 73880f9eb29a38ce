import { type AgentFactory, defineAgent } from '../../src/agents/agent.ts'
import { makeRandom } from '../../src/random.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'

const TURNS = 10
const PROMPT_IDS = 1_500
const OUTPUT_IDS = 170

/**
 * Records ten turns of real size (75 KB packed), or as many as `turns` says, and, with `waitMs`, waits as a model would: with `spread` by so much of it shorter or longer
 * at most, as the rollout's seed says. Calls no model.
 */
const noopAgent: AgentFactory = defineAgent(config => {
  const number = (name: string, otherwise: number) => (typeof config[name] === 'number' ? config[name] : otherwise)
  const waitMs = number('waitMs', 0)
  const spread = number('spread', 0)
  const turns = number('turns', TURNS)
  return {
    name: 'noop',
    async run({ record, signal, seed }) {
      const share = spread === 0 ? 1 : 1 + spread * (2 * makeRandom(seed)() - 1)
      if (waitMs > 0) await wait(waitMs * share, signal)
      for (let turn = 0; turn < turns; turn += 1) record(makeTurn())
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
