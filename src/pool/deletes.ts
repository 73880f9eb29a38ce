import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { Settled } from '../kernel/actor.ts'
import { quarantined } from './errors.ts'
import { backoffMs, type PoolState } from './pool-state.ts'

/** Starts a delete. Deletes wait for no create: they have neither its bucket nor its wave, and only the cap bounds them. */
export function retire(state: PoolState, id: SandboxId, sessionEnded: boolean): void {
  state.tree.forget(id)
  state.lost.delete(id)
  state.ledger.move(id, { type: 'deleting', attempt: 1, sessionEnded })
  state.ports.dispose(id, { sessionEnded, delayMs: 0 })
}

/** A delete has ended. One that failed is tried again, a bounded number of times. */
export function disposed(state: PoolState, id: SandboxId, settled: Settled<void>): void {
  const { config, ledger, ports } = state
  const sandbox = ledger.get(id)
  if (sandbox?.type !== 'deleting' && sandbox?.type !== 'quarantined') return
  if (settled.ok) ledger.close(id)
  else if (sandbox.type === 'quarantined') return
  else if (sandbox.attempt >= config.disposeAttempts) quarantine(state, id, sandbox.attempt, settled.error)
  else {
    ledger.move(id, { ...sandbox, attempt: sandbox.attempt + 1 })
    ports.dispose(id, { sessionEnded: sandbox.sessionEnded, delayMs: backoffMs(state, sandbox.attempt) })
  }
}

/** Gives up on a sandbox that may still exist, loudly. Should its delete come through after all, it counts as gone. */
export function quarantine(state: PoolState, id: SandboxId, attempts: number, cause: ErrorData): void {
  const error = quarantined(id, attempts, cause)
  state.ledger.move(id, { type: 'quarantined', error })
  state.ports.report(error)
  state.ports.dispose(id, { sessionEnded: false, delayMs: 0, patient: true })
}
