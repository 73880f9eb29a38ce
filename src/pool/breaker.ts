import type { ErrorData } from '../errors.ts'

/** Failures in a row that open the breaker, and how long it then stays open. */
export interface BreakerLimits {
  readonly failures: number
  readonly cooldownMs: number
}

/**
 * Keeps a pool whose creates all fail from hammering its provider. Closed: creates go through. Open: none before `until`.
 * Probing: one create has been let through after the cool-down, and decides.
 */
export type Breaker =
  | { readonly type: 'closed'; readonly failures: number }
  | { readonly type: 'open'; readonly failures: number; readonly until: number; readonly error: ErrorData }
  | { readonly type: 'probing'; readonly failures: number; readonly error: ErrorData }

export const closedBreaker: Breaker = { type: 'closed', failures: 0 }

export const mayCreate = (breaker: Breaker, now: number): boolean =>
  breaker.type === 'closed' || (breaker.type === 'open' && now >= breaker.until)

/** A create is being sent. */
export const afterStart = (breaker: Breaker): Breaker =>
  breaker.type === 'open' ? { type: 'probing', failures: breaker.failures, error: breaker.error } : breaker

export const afterSuccess = (): Breaker => closedBreaker

/**
 * What fails often ends sooner than what goes well, so that the first ends of a burst say little: with many creates in flight, a quarter of them must fail
 * in a row.
 */
export function afterFailure(
  breaker: Breaker,
  error: ErrorData,
  now: number,
  limits: BreakerLimits,
  inFlight: number,
): Breaker {
  const failures = breaker.failures + 1
  // Creates sent before it opened may still fail; they do not lengthen the cool-down.
  if (breaker.type === 'open') return { ...breaker, failures, error }
  if (breaker.type === 'probing' || failures >= Math.max(limits.failures, inFlight / 4))
    return { type: 'open', failures, until: now + limits.cooldownMs, error }
  return { type: 'closed', failures }
}

/** A create was called off before it could show anything: the next one is the probe. */
export const afterCancel = (breaker: Breaker, now: number): Breaker =>
  breaker.type === 'probing' ? { type: 'open', failures: breaker.failures, until: now, error: breaker.error } : breaker
