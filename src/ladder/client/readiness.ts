import { fromErrorData } from '../../errors.ts'
import type { PoolStats } from '../../pool/stats.ts'
import { notReady } from '../errors.ts'
import type { Cell } from '../level.ts'
import { parentsOf } from './pool-options.ts'
import { until } from './until.ts'

const LOOK_MS = 20
const READY_MS = 180_000

/** Waits until the pool really has what the cell is about. Rejects with `ladder-not-ready`, or why the pool's source was refused. */
export async function untilReady(cell: Cell, stats: () => Promise<PoolStats | undefined>): Promise<void> {
  const { strategy, width, size = width } = cell
  if (strategy === 'cold') return
  const from = performance.now()
  const isReady = async () => {
    const now = await stats()
    if (now === undefined) return false
    const { parents, providerPool, ready, sourceError } = now
    if (sourceError !== undefined) throw fromErrorData(sourceError)
    if (strategy === 'prewarm') return ready >= size
    if (strategy === 'fork') return parents.kept >= parentsOf(cell)
    // A count from before the last level would tell of members that have been claimed since.
    const isFresh = (providerPool?.countedMsAgo ?? Number.POSITIVE_INFINITY) < performance.now() - from
    return isFresh && (providerPool?.ready ?? 0) >= size
  }
  if (!(await until(isReady, LOOK_MS, READY_MS))) throw notReady(strategy, READY_MS)
}
