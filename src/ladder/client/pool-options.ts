import type { PoolOptions } from '../../job/options.ts'
import { unknownStrategy } from '../errors.ts'
import type { Cell } from '../level.ts'

export const DEFAULT_PARENTS = 4

/** The pool by which a cell's strategy is measured, alone: the others of its kind are off. */
export function toPoolOptions(cell: Cell): PoolOptions & { readonly maxSandboxes: number } {
  const { width, size = width } = cell
  const parents = parentsOf(cell)
  const atMost = (needed: number) => cell.maxSandboxes ?? needed
  switch (cell.strategy) {
    case 'cold':
      return { strategy: 'cold', size: 0, source: { type: 'create' }, maxSandboxes: atMost(width) }
    case 'prewarm':
      return { strategy: 'prewarm', size, source: { type: 'create' }, maxSandboxes: atMost(Math.max(width, size)) }
    case 'provider-pool':
      return { strategy: 'cold', size: 0, source: { type: 'provider-pool', size }, maxSandboxes: atMost(width) }
    case 'fork':
      return { strategy: 'cold', size: 0, source: { type: 'fork', parents }, maxSandboxes: atMost(width + parents) }
    default:
      throw unknownStrategy(cell.strategy)
  }
}

export const parentsOf = ({ width, parents = DEFAULT_PARENTS }: Pick<Cell, 'width' | 'parents'>): number =>
  Math.min(parents, width)
