import type { PoolSource } from '../job/options.ts'
import type { Runtime } from '../runtimes/runtime.ts'

/** Where sandboxes are to come from, with every default filled in. */
export type SourcePlan =
  | { readonly type: 'create' }
  | { readonly type: 'provider-pool'; readonly size: number }
  /** `required`: somebody asked for forks by name, and is told when there are none. */
  | { readonly type: 'fork'; readonly parents: number; readonly required: boolean }

/** Parents kept where nobody said how many. */
export const DEFAULT_PARENTS = 4

type Abilities = Pick<Runtime, 'forks' | 'providerPool'>

/** `size` is the provider pool's where none is given. What the runtime cannot do is left out: see `lacksSource`. */
export function planSource(source: PoolSource, runtime: Abilities, size: number): SourcePlan {
  if (source.type === 'provider-pool' && runtime.providerPool !== undefined)
    return { type: 'provider-pool', size: source.size ?? size }
  if ((source.type === 'fork' || source.type === 'auto') && runtime.forks === true) {
    const parents = source.type === 'fork' ? (source.parents ?? DEFAULT_PARENTS) : DEFAULT_PARENTS
    return { type: 'fork', parents, required: source.type === 'fork' }
  }
  return { type: 'create' }
}

/** What is wrong with asking that runtime for that source, and what it can do instead; undefined when nothing is. */
export function lacksSource(source: PoolSource, runtime: Abilities & Pick<Runtime, 'name'>): string | undefined {
  const can = ['create', ...(runtime.providerPool ? ['provider-pool'] : []), ...(runtime.forks ? ['fork'] : []), 'auto']
  return can.includes(source.type)
    ? undefined
    : `pool.source is ${source.type}, but the ${runtime.name} runtime offers ${can.join(', ')}`
}
