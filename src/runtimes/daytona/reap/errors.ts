import type { ErrorData } from '../../../errors.ts'
import type { Leftover } from './leftover.ts'

/** Not deleted, because the pool that it is of is still there. */
export const poolStays = ({ kind, id, pool }: Leftover): ErrorData => ({
  tag: 'pool-stays',
  address: id,
  message:
    kind === 'pool-anchor'
      ? `${id} stays as long as something is left of its pool ${pool}, because it alone says whose that is; try again`
      : `${id} would come again as long as its pool ${pool} is there; delete that first`,
})
