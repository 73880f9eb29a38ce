import type { Clock } from '../clock.ts'
import type { ProviderPool } from '../runtimes/runtime.ts'
import { poolCallTimeout } from './errors.ts'
import { within } from './within.ts'

/** Until the provider agrees to hold a pool, has counted it, and has let go of it with all its sandboxes. */
const HOLD_MS = 30_000
const COUNT_MS = 10_000
const DROP_MS = 40_000

/** The provider's pool with a deadline on each call, and with the memory of whether there is anything to let go of. */
export interface ProviderHold extends ProviderPool {
  /** False as long as nothing was held, or when all of it is gone. */
  readonly holds: boolean
}

/** Each call rejects with `provider-pool-timeout` when it takes too long. */
export function makeProviderHold(pool: ProviderPool, clock: Clock): ProviderHold {
  let holds = false
  let holding: Promise<void> = Promise.resolve()
  let stopCounting = () => {}
  const bounded = <Value>(what: 'hold' | 'drop', call: Promise<Value>, ms: number) =>
    within(clock, call, ms, () => Promise.reject(poolCallTimeout(what, ms)))

  return {
    get holds() {
      return holds
    },
    hold(size) {
      holds = true
      holding = (async () => pool.hold(size))()
      // A hold that is refused has left nothing behind.
      holding.catch(() => {
        holds = false
      })
      return bounded('hold', holding, HOLD_MS)
    },
    ready: () =>
      within(
        clock,
        (async () => pool.ready())(),
        COUNT_MS,
        () => Promise.reject(poolCallTimeout('count', COUNT_MS)),
        hurry => {
          stopCounting = hurry
        },
      ),
    drop() {
      // Nobody wants to know any more: its deadline would outlast the pool.
      stopCounting()
      const dropping = async () => {
        // Its refusal was told to whoever asked for it.
        await holding.catch(() => undefined)
        if (!holds) return
        await pool.drop()
        holds = false
      }
      return bounded('drop', dropping(), DROP_MS)
    },
  }
}
