/** Prefilled prompts under one set of weights. Many rollouts ask for the same context: it is computed once. */
import type { Embedder } from '../embed.ts'
import type { Prefill } from './decode.ts'
import type { Prefix } from './kv-cache.ts'
import type { Tensors } from './library.ts'

export interface Prefixes {
  /** The prefixes of all `prompts`, in their order; those that are not known yet are computed in batches. */
  find(prompts: readonly Uint32Array[]): Promise<readonly Prefix[]>
}

export function makePrefixes(
  prefill: Prefill,
  weights: { readonly parameters: Tensors; readonly embedder: Embedder },
  limits: { readonly batch: number; readonly kept: number },
): Prefixes {
  const known = new Map<string, Prefix>()
  return {
    async find(prompts) {
      const keys = prompts.map(prompt => prompt.join())
      const missing = new Map(
        prompts.flatMap((prompt, i): [string, Uint32Array][] => {
          const key = keys[i] ?? ''
          return prompt.length === 0 || known.has(key) ? [] : [[key, prompt]]
        }),
      )
      const fresh = [...missing]
      for (let start = 0; start < fresh.length; start += limits.batch) {
        const part = fresh.slice(start, start + limits.batch)
        const found = await prefill(
          weights.parameters,
          weights.embedder,
          part.map(([, prompt]) => prompt),
        )
        for (const [i, [key]] of part.entries()) known.set(key, found[i] ?? [])
      }
      const prefixes = keys.map(key => known.get(key) ?? [])
      // Those just used come last, the oldest go first.
      for (const key of new Set(keys)) {
        const prefix = known.get(key)
        if (prefix === undefined) continue
        known.delete(key)
        known.set(key, prefix)
      }
      for (const key of known.keys()) {
        if (known.size <= limits.kept) break
        known.delete(key)
      }
      return prefixes
    },
  }
}
