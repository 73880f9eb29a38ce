import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import { discard } from './forks.ts'
import type { PoolState } from './pool-state.ts'

/**
 * The sandbox died by itself. One that is leased is left to its rollout, which is told, may ask why, and gives it back; one whose create has not been
 * told of yet goes as soon as it is.
 */
export function lost(state: PoolState, id: SandboxId, error: ErrorData): void {
  const { ledger, tree } = state
  switch (ledger.get(id)?.type) {
    case 'ready':
    case 'root':
    case 'forking':
    case 'owed':
      discard(state, id)
      return
    case 'creating':
    case 'stocking':
    case 'rooting':
      tree.forget(id)
      state.lost.set(id, error)
      return
    case 'leased':
      state.lost.set(id, error)
  }
}
