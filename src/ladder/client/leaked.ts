import type { Runtime } from '../../runtimes/runtime.ts'
import { until } from './until.ts'

const LOOK_MS = 50
/** A sandbox takes half a second to be deleted; hundreds may be deleted in a row. */
const WITHIN_MS = 60_000

/**
 * How many sandboxes of `job` exist at the provider beyond those that the pool owns on purpose: looked at until there are none and nothing is on its way
 * any more, or `withinMs` (a minute) are over. Where the provider cannot tell, the pool's own books have to do.
 */
export async function countLeaked(
  runtime: Runtime,
  job: string,
  look: () => Promise<{ readonly atRest: boolean; readonly owned: number }>,
  withinMs: number = WITHIN_MS,
): Promise<number> {
  let left = 0
  await until(
    async () => {
      const { atRest, owned } = await look()
      const listed = await runtime.list?.()
      const mine = listed?.filter(({ labels }) => labels.job === job).length ?? owned
      left = atRest ? Math.max(0, mine - owned) : Math.max(1, mine - owned)
      return atRest && left === 0
    },
    LOOK_MS,
    withinMs,
  )
  return left
}
