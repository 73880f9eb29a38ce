import { makeChatAgent } from '../agents/chat/chat-agent.ts'
import { makeOrigins } from '../agents/chat/origins.ts'
import { systemClock } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import { modelSilent } from './errors.ts'

const PROBE_MS = 60_000

/**
 * Asks a model for one token, as a rollout would ask it. So a model that is not there, or whose server gives no token ids, is known
 * before a sandbox is paid for, and not after the first hundred rollouts. Rejects with `no-token-ids`, `unknown-model`,
 * `unauthorized` and whatever else the chat agent does, or with `model-silent`.
 */
export async function probeModel(config: Readonly<Record<string, unknown>>): Promise<void> {
  const { completionKwargs, model } = config
  const kwargs = typeof completionKwargs === 'object' ? completionKwargs : {}
  const origins = makeOrigins(systemClock)
  const signal = AbortSignal.timeout(PROBE_MS)
  const probe = { ...config, tools: [], maxSteps: 1, completionKwargs: { ...kwargs, max_tokens: 1 } }
  try {
    await makeChatAgent(probe, { origins }).run({
      prompt: 'Answer with one word.',
      shell: async () => Promise.reject(new TroupeError({ tag: 'no-shell', message: 'there is none here' })),
      seed: 0,
      signal,
      record() {},
    })
  } catch (error) {
    throw signal.aborted ? modelSilent(String(model), PROBE_MS) : error
  } finally {
    await origins.close()
  }
}
