import { defineAgent } from '../../src/agents/agent.ts'
import { faultOf } from './faults.ts'
import { announceHeap } from './thread-heaps.ts'

/** Does nothing, or what the fault of its seed says; faults of the grader it asks for with its answer. */
export default defineAgent(() => ({
  name: 'soaked',
  async run({ seed, record, signal }) {
    announceHeap()
    const fault = faultOf(seed)
    record({ role: 'assistant', text: fault ?? 'a step', atMs: 0, tookMs: 0, tokens: { prompt, output, logprobs } })
    if (fault === 'agent-throws') throw new Error('the agent throws')
    if (fault === 'agent-hangs') await untilAborted(signal)
    return { answer: fault ?? 'done', stop: 'done' }
  },
}))

const prompt = Uint32Array.from({ length: 200 }, (_, at) => at * 7_919)
const output = Uint32Array.from({ length: 40 }, (_, at) => at * 104_729)
const logprobs = Float32Array.from({ length: 40 }, (_, at) => -(at % 13) / 7)

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
