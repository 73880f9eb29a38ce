import type { SandboxId } from '../ids.ts'
import { ledgerBroken } from './errors.ts'
import { type Fifo, makeFifo } from './fifo.ts'
import { type SandboxState, type SandboxStateType, transitions } from './sandbox-state.ts'

/** Every sandbox that the pool has ever sent a create for: one state each, until its delete is confirmed. */
export interface Ledger {
  /** Sandboxes ever opened, and those confirmed gone. */
  readonly created: number
  readonly gone: number
  /** Sandboxes that exist or may exist: what the cap counts. */
  readonly size: number
  count(type: SandboxStateType): number
  get(id: SandboxId): SandboxState | undefined
  /** The id that has been in that state longest. */
  oldest(type: SandboxStateType): SandboxId | undefined
  ids(type: SandboxStateType): Iterable<SandboxId>
  /** Called before the create is sent. */
  open(id: SandboxId, state: SandboxState): void
  /** Throws `sandbox-ledger-broken` for a move that no sandbox makes. */
  move(id: SandboxId, next: SandboxState): void
  /** The sandbox is confirmed gone. */
  close(id: SandboxId): void
  /** Throws `sandbox-ledger-broken` unless created = gone + those in some state. */
  check(): void
}

export function makeLedger(): Ledger {
  const states = new Map<SandboxId, SandboxState>()
  const ids = () => makeFifo<SandboxId, SandboxId>()
  const byType: Readonly<Record<SandboxStateType, Fifo<SandboxId, SandboxId>>> = {
    rooting: ids(),
    root: ids(),
    creating: ids(),
    stocking: ids(),
    cancelling: ids(),
    ready: ids(),
    forking: ids(),
    owed: ids(),
    leased: ids(),
    leaving: ids(),
    deleting: ids(),
    quarantined: ids(),
  }
  let created = 0
  let gone = 0

  function leave(id: SandboxId, next: SandboxStateType | 'gone'): void {
    const state = states.get(id)
    if (state === undefined) throw ledgerBroken(`sandbox ${id} is unknown and cannot become ${next}`)
    if (!transitions[state.type].includes(next))
      throw ledgerBroken(`sandbox ${id} cannot go from ${state.type} to ${next}`)
    byType[state.type].delete(id)
  }

  function enter(id: SandboxId, state: SandboxState): void {
    states.set(id, state)
    byType[state.type].set(id, id)
  }

  return {
    get created() {
      return created
    },
    get gone() {
      return gone
    },
    get size() {
      return states.size
    },
    count: type => byType[type].size,
    get: id => states.get(id),
    oldest: type => byType[type].first(),
    ids: type => byType[type].values(),
    open(id, state) {
      if (states.has(id)) throw ledgerBroken(`sandbox ${id} was opened twice`)
      created += 1
      enter(id, state)
    },
    move(id, next) {
      leave(id, next.type)
      enter(id, next)
    },
    close(id) {
      leave(id, 'gone')
      states.delete(id)
      gone += 1
    },
    check() {
      const held = Object.values(byType).reduce((sum, ids) => sum + ids.size, 0)
      if (held !== states.size || created !== gone + held)
        throw ledgerBroken(`${created} sandboxes were created, but ${gone} are gone and ${held} are held`)
    },
  }
}
