import type { OpenCell } from '../ladder/cell.ts'
import type { PoolMoment, Prepared } from '../ladder/level.ts'
import { fullSince, type Look, type Watched, watchUnclaimed, withLooks } from './unclaimed.ts'

/**
 * The same cell; where it draws on the pool of an emulated provider, what it tells of that pool is counted at the emulator: when it was full, and what was
 * in it. Elsewhere it is what the provider's listing says, which is asked every two seconds.
 */
export function observed(cell: OpenCell, size: number): Pick<OpenCell, 'cell' | 'prepare' | 'measure'> {
  const { strategy } = cell.cell
  if (strategy !== 'provider-pool') return cell
  async function watch<Value extends { readonly held: readonly PoolMoment[] }>(
    work: () => Promise<Value>,
  ): Promise<Watched<Value>> {
    if (cell.place === undefined) return { value: await work(), looks: [] }
    const { value, looks } = await watchUnclaimed(cell.place, work)
    return { value: { ...value, held: withLooks(value.held, looks) }, looks }
  }
  return {
    cell: cell.cell,
    async prepare(demand) {
      const { value, looks } = await watch(() => cell.prepare(demand))
      return toFull(value, looks, size)
    },
    async measure(...how) {
      const { value } = await watch(() => cell.measure(...how))
      return value
    },
  }
}

/** Nothing that comes after the pool was full belongs to its filling. */
function toFull(prepared: Prepared, looks: readonly Look[], size: number): Prepared {
  return { ...prepared, tookMs: Math.min(prepared.tookMs, fullSince(looks, size) ?? prepared.tookMs) }
}
