import { hasTag } from '../../errors.ts'
import type { SampleRequest, SampleResult, Sampler, Weights } from '../policy.ts'

/** A sampler that is started when first needed and that always has the head's weights. */
export interface ServedSampler {
  /** Resolves when it can answer. */
  ready(): Promise<void>
  sample(request: SampleRequest, signal: AbortSignal): Promise<SampleResult>
  /** New weights, which every later request is answered with. */
  publish(weights: Weights, version: string): Promise<void>
  close(): Promise<void>
}

export function makeServedSampler(
  start: () => Promise<Sampler>,
  head: () => Promise<{ readonly weights: Weights; readonly version: string }>,
): ServedSampler {
  let current: Promise<Sampler> | undefined

  function running(): Promise<Sampler> {
    if (current !== undefined) return current
    const starting = startLoaded(start, head)
    current = starting
    starting.catch(() => forget(starting)) // Whoever waits for it has the error; the next one tries again.
    return starting
  }

  function forget(sampler: Promise<Sampler>): void {
    if (current === sampler) current = undefined
  }

  /** Out of use: the next request starts another, with the weights that are the head's by then. */
  async function drop(sampler: Promise<Sampler>): Promise<void> {
    forget(sampler)
    await sampler.then(each => each.close()).catch(() => {}) // It is gone already.
  }

  return {
    ready: async () => void (await running()),
    async sample(request, signal) {
      const sampler = running()
      try {
        return await (await sampler).sample(request, signal)
      } catch (error) {
        if (hasTag(error, 'policy-thread-lost')) await drop(sampler)
        throw error
      }
    },
    async publish(weights, version) {
      if (current === undefined) return
      const sampler = current
      try {
        await (await sampler).load(weights, version)
      } catch {
        // The weights are the head's already. A sampler that cannot take them is replaced by one that starts with them.
        await drop(sampler)
      }
    },
    async close() {
      if (current !== undefined) await drop(current)
    },
  }
}

async function startLoaded(
  start: () => Promise<Sampler>,
  head: () => Promise<{ readonly weights: Weights; readonly version: string }>,
): Promise<Sampler> {
  const sampler = await start()
  try {
    const { weights, version } = await head()
    await sampler.load(weights, version)
    return sampler
  } catch (error) {
    await sampler.close()
    throw error
  }
}
