import type { OpenCell } from './cell.ts'
import type { Level, Prepared } from './level.ts'

/** A cell that is measured again and again, others taking turns with it. */
export interface Turn {
  readonly cell: OpenCell
  /** Makes ready and measures. `again`: there is another turn, for which the provider may begin to fill its pool at once. */
  take(repetition: number, again: boolean): Promise<Level>
}

export function makeTurn(cell: OpenCell): Turn {
  /** The provider fills its pool by itself, which costs nobody anything here: it may while others are measured. */
  const early = cell.cell.strategy === 'provider-pool'
  let preparing: Promise<Prepared> | undefined
  const prepare = () => {
    preparing = cell.prepare()
    preparing.catch(() => {}) // whoever takes the turn awaits it too
  }
  if (early) prepare()
  return {
    cell,
    async take(repetition, again) {
      if (!early) prepare()
      const fill = await preparing
      const level = await cell.measure(repetition, fill)
      if (early && again) prepare()
      return level
    },
  }
}
