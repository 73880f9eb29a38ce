import type { Clock } from '../clock.ts'
import type { PoolStats } from '../pool/stats.ts'

/** How often the pool is asked for its figures. */
const LOOK_MS = 100

/** Asks the engine's pool for its figures again and again, as long as there is an engine. The returned function ends it. */
export function watchPool(
  clock: Clock,
  engine: () => { poolStats(): Promise<PoolStats> } | undefined,
  seen: (stats: PoolStats) => void,
): () => void {
  let stopped = false
  let cancelTimer = clock.after(LOOK_MS, look)
  function look(): void {
    const again = () => {
      if (!stopped) cancelTimer = clock.after(LOOK_MS, look)
    }
    const asked = engine()?.poolStats()
    // A pool that does not answer is the supervisor's to notice; figures that are missing are only not shown.
    if (asked === undefined) again()
    else asked.then(seen, () => {}).finally(again)
  }
  return () => {
    stopped = true
    cancelTimer()
  }
}
