import type { Runtime } from '../runtimes/runtime.ts'
import { parentsOf, toPoolOptions } from './client/pool-options.ts'
import { strategyImpossible } from './errors.ts'
import { STRATEGIES, type Strategy } from './level.ts'

/** Throws `ladder-strategy-impossible` for the first strategy that the runtime cannot do. Asks nothing of anybody. */
export function checkStrategies(
  strategies: readonly string[],
  runtime: Pick<Runtime, 'name' | 'forks' | 'providerPool'>,
): void {
  for (const strategy of strategies) {
    if (strategy === 'fork' && runtime.forks !== true)
      throw strategyImpossible(strategy, runtime.name, 'it has nothing to fork')
    if (strategy === 'provider-pool' && runtime.providerPool === undefined)
      throw strategyImpossible(strategy, runtime.name, 'nobody keeps pools there')
  }
}

/**
 * Rejects with what the runtime's own check finds: a key that is missing, a quota that the widest level does not fit in beside what the other strategies
 * keep meanwhile. Makes no sandbox.
 */
export async function preflightLadder(
  widths: readonly number[],
  strategies: readonly string[],
  runtime: Runtime,
): Promise<void> {
  checkStrategies(strategies, runtime)
  const width = Math.max(...widths)
  const providerPool = strategies.includes('provider-pool')
  const atOnce = strategies.map(strategy => toPoolOptions({ strategy, work: 'infra', width }).maxSandboxes)
  const kept = (providerPool ? width : 0) + (strategies.includes('fork') ? parentsOf({ width }) : 0)
  await runtime.preflight({ sandboxes: Math.max(...atOnce) + kept, providerPool })
}

/** All that the runtime can do; an emulated one, undefined here, can do everything. */
export function possibleStrategies(runtime: Pick<Runtime, 'forks' | 'providerPool'> | undefined): readonly Strategy[] {
  if (runtime === undefined) return STRATEGIES
  return STRATEGIES.filter(strategy => {
    if (strategy === 'fork') return runtime.forks === true
    return strategy !== 'provider-pool' || runtime.providerPool !== undefined
  })
}
