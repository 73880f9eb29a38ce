import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import { retire } from './deletes.ts'
import { noForks } from './errors.ts'
import type { ForkEnd } from './fork-tree.ts'
import type { PoolState } from './pool-state.ts'
import { assign, unassign } from './requests.ts'

/** Forks of one parent that failed in a row before it counts as broken. */
const PARENT_FAILURES = 3

/** How many sandboxes are kept to be forked and nothing else: never more than were ever wanted, and never all that may exist. */
export function wantedRoots({ config, source, peakDemand }: PoolState): number {
  return source.type === 'fork' ? Math.max(0, Math.min(source.parents, config.maxSandboxes - 1, peakDemand)) : 0
}

/** Roots that are missing while anything is still asked for. */
export function missingRoots(state: PoolState): number {
  if (state.draining || state.remaining + state.queue.size === 0) return 0
  return wantedRoots(state) - state.ledger.count('root') - state.ledger.count('rooting')
}

/** Kept parents first, then those that are still being made and serve nobody yet. */
export function freeParent({ tree }: PoolState): SandboxId | undefined {
  return tree.roots.first() ?? tree.making.first()
}

/** A sandbox off the shelf, to bear more of them: while it is less than half full, and is not emptied to fill its last places. */
export function shelfParentForStock({ ledger, tree }: PoolState, missing: number): SandboxId | undefined {
  return missing > ledger.count('ready') || tree.inFlight === 0 ? ledger.oldest('ready') : undefined
}

/** No fork can be had now or soon: what is wanted has to be created, as many at once as do not slow each other. */
export function nothingToFork(state: PoolState): boolean {
  const { tree, ledger } = state
  return tree.inFlight === 0 && freeParent(state) === undefined && ledger.count('ready') === 0
}

/** The sandbox may be forked from now on. Of a fork this also says that its own parent may be forked again. */
export function forkable(state: PoolState, id: SandboxId): void {
  endFork(state, id)
  if (state.source.type !== 'fork' || state.tree.isForking(id) || state.lost.has(id)) return
  const sandbox = state.ledger.get(id)
  const type = sandbox?.type
  // What is made for one request alone is copied for nobody.
  if (sandbox?.type === 'creating' && sandbox.request.kind !== undefined) return
  if (type === 'creating' || type === 'stocking') state.tree.making.set(id, id)
  else if (type === 'rooting') state.tree.roots.set(id, id)
}

/** The create of a fork is over: its parent is free, and replaced when it only bears failures. */
export function forkCreated(state: PoolState, child: SandboxId, how: ForkEnd): void {
  const { ledger, tree } = state
  const parent = tree.parentOf(child)
  endFork(state, child)
  const failures = tree.created(child, how)
  if (parent === undefined) return
  if (ledger.get(parent) === undefined) tree.forget(parent)
  else if (failures >= PARENT_FAILURES) {
    const type = ledger.get(parent)?.type
    if (type === 'root' || type === 'rooting' || type === 'ready' || type === 'forking') discard(state, parent)
    // What a request waits for is left to it, but bears no more.
    else tree.making.delete(parent)
  }
}

function endFork(state: PoolState, child: SandboxId): void {
  const { ledger, ports, tree } = state
  const parent = tree.end(child)
  const sandbox = parent === undefined ? undefined : ledger.get(parent)
  if (parent === undefined || sandbox === undefined) return
  switch (sandbox.type) {
    case 'rooting':
    case 'root':
      if (!state.lost.has(parent)) tree.roots.set(parent, parent)
      return
    case 'creating':
    case 'stocking':
      if (state.source.type === 'fork' && !state.lost.has(parent)) tree.making.set(parent, parent)
      return
    case 'owed':
      unassign(state, sandbox.request)
      ledger.move(parent, { type: 'ready', at: sandbox.at })
      return
    case 'forking':
      ledger.move(parent, { type: 'ready', at: sandbox.at })
      return
    case 'cancelling':
      ports.cancel(parent)
      return
    case 'leaving':
      retire(state, parent, false)
  }
}

/** Disposes of a sandbox that nobody wants, or calls its create off: as soon as no fork of it is in flight. */
export function discard(state: PoolState, id: SandboxId): void {
  const { ledger, ports, tree } = state
  const sandbox = ledger.get(id)
  const forking = tree.isForking(id)
  tree.forget(id)
  switch (sandbox?.type) {
    case 'stocking':
    case 'rooting':
      ledger.move(id, { type: 'cancelling' })
      if (!forking) ports.cancel(id)
      return
    case 'owed':
      unassign(state, sandbox.request)
      ledger.move(id, { type: 'leaving' })
      return
    case 'forking':
      ledger.move(id, { type: 'leaving' })
      return
    case 'root':
    case 'ready':
      if (forking) ledger.move(id, { type: 'leaving' })
      else retire(state, id, false)
  }
}

/** The runtime cannot fork after all. What was kept for forks serves rollouts, and creates go on without. */
export function abandonForks(state: PoolState, cause: ErrorData): void {
  const { config, ledger, ports, source, tree, unserved } = state
  if (source.type !== 'fork') return
  const error = noForks(config.runtime, cause)
  state.source = { type: 'create', why: error }
  if (source.required) ports.report(error)
  for (const id of [...tree.roots.values(), ...tree.making.values()]) tree.forget(id)
  for (const id of [...ledger.ids('root')]) {
    const root = ledger.get(id)
    if (root?.type === 'root') ledger.move(id, { type: tree.isForking(id) ? 'forking' : 'ready', at: root.at })
  }
  for (const id of [...ledger.ids('rooting')]) {
    const rooting = ledger.get(id)
    if (rooting?.type !== 'rooting') continue
    ledger.move(id, { type: 'stocking', since: rooting.since })
    const next = unserved.any()
    if (next !== undefined) assign(state, id, next)
  }
}
