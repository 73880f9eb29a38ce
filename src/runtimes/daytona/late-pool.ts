import type { ProviderPool } from '../runtime.ts'

/** The provider's own pool of a runtime, made when it is first held: nothing is asked of the provider before. */
export function makeLatePool(make: () => Promise<ProviderPool>): ProviderPool {
  let made: Promise<ProviderPool> | undefined
  return {
    async hold(size) {
      made ??= make().catch(error => {
        made = undefined // may go better the next time
        throw error
      })
      await (await made).hold(size)
    },
    ready: async () => (await made?.catch(() => undefined))?.ready() ?? 0,
    drop: async () => (await made?.catch(() => undefined))?.drop(), // what was not made holds nothing
  }
}
