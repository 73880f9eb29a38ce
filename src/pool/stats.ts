import type { ErrorData } from '../errors.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'

/** Figures from real sandboxes; nothing here is a target in disguise. */
export interface PoolStats {
  readonly strategy: 'cold' | 'prewarm'
  /** Prewarmed sandboxes that the pool tries to hold ready now; 0 when cold. */
  readonly target: number
  readonly creating: number
  readonly ready: number
  readonly leased: number
  readonly deleting: number
  readonly quarantined: number
  /** Requests that wait. */
  readonly waiting: number
  /** Sandboxes ever owned, and those confirmed gone: created = gone + creating + ready + leased + deleting + quarantined. */
  readonly created: number
  readonly gone: number
  readonly createFailures: number
  readonly leases: Readonly<Record<LeaseKind, number>>
  /** Why the pool gives nothing out, when its breaker is open. */
  readonly breaker: ErrorData | undefined
}
