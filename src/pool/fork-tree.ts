import type { SandboxId } from '../ids.ts'
import { type Fifo, makeFifo } from './fifo.ts'

/** Whether a fork became a sandbox, and if not, whether that speaks against its parent. */
export type ForkEnd = 'ok' | 'failed' | 'not-its-fault'

/** Who may be forked, and who is being forked by whom. Stock that is ready may be forked too: the ledger knows it. */
export interface ForkTree {
  /** Forks in flight: a sandbox is the parent of one at a time. */
  readonly inFlight: number
  isForking(parent: SandboxId): boolean
  /** The parent of a fork whose create has not ended yet. */
  parentOf(child: SandboxId): SandboxId | undefined
  /** Kept parents, and sandboxes that are still being made, of which a fork may be asked for now. */
  readonly roots: Fifo<SandboxId, SandboxId>
  readonly making: Fifo<SandboxId, SandboxId>
  begin(parent: SandboxId, child: SandboxId): void
  /** The fork itself is over, whether or not its create is. Returns the parent if it was still in flight. */
  end(child: SandboxId): SandboxId | undefined
  /** The create of a fork is over. Returns how many in a row have failed for its parent. */
  created(child: SandboxId, how: ForkEnd): number
  forget(id: SandboxId): void
}

export function makeForkTree(): ForkTree {
  const childOf = new Map<SandboxId, SandboxId>()
  const parents = new Map<SandboxId, SandboxId>()
  const failures = new Map<SandboxId, number>()
  const roots = makeFifo<SandboxId, SandboxId>()
  const making = makeFifo<SandboxId, SandboxId>()

  return {
    get inFlight() {
      return childOf.size
    },
    isForking: parent => childOf.has(parent),
    parentOf: child => parents.get(child),
    roots,
    making,
    begin(parent, child) {
      roots.delete(parent)
      making.delete(parent)
      childOf.set(parent, child)
      parents.set(child, parent)
    },
    end(child) {
      const parent = parents.get(child)
      if (parent === undefined || childOf.get(parent) !== child) return undefined
      childOf.delete(parent)
      return parent
    },
    created(child, how) {
      const parent = parents.get(child)
      parents.delete(child)
      if (parent === undefined || how === 'not-its-fault') return 0
      const count = how === 'ok' ? 0 : (failures.get(parent) ?? 0) + 1
      if (count === 0) failures.delete(parent)
      else failures.set(parent, count)
      return count
    },
    forget(id) {
      roots.delete(id)
      making.delete(id)
      failures.delete(id)
    },
  }
}
