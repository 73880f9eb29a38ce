import { TroupeError } from '../../src/errors.ts'
import type { ProviderPool } from '../../src/runtimes/runtime.ts'
import type { SimulatedNode } from './node.ts'
import type { ProviderFaults } from './scenario.ts'
import type { World } from './world.ts'

/** A provider's own pool that takes its time and is at times refused, not to be counted or not to be let go of. */
export function makeProviderPool(world: World, node: SimulatedNode, faults: ProviderFaults): ProviderPool {
  const answer = async (what: string) => {
    await node.wait(world.duration(faults.createMs), `${what} the pool`)
    if (world.chance(faults.failedCreates)) throw new TroupeError({ tag: 'no-pool', message: `cannot ${what} a pool` })
  }
  return {
    hold: () => answer('hold'),
    async ready() {
      await answer('count')
      return 1
    },
    drop: () => answer('drop'),
  }
}
