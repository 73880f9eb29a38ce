/** The share of requests that should find a sandbox ready. */
export const HIT_RATE = 0.99

/**
 * The least number of prewarmed sandboxes with which `hitRate` of the measured requests would have found one ready.
 *
 * The pool is an inventory under the (S-1, S) base-stock rule (Feeney and Sherbrooke, 1966): each request at once orders one
 * replacement, which arrives a refill time later. What is on the shelf is then S less the requests of the last refill time, so
 * a request is a hit exactly when, itself included, at most S came within that time. Counting that for each measured request
 * and taking the quantile needs no assumption about how requests arrive: groups that ask for all their members at once, and
 * steps that start together, are in the counts. Any smaller S misses the rate on the same history; any larger keeps
 * sandboxes idle for nothing.
 *
 * `arrivals` are times in ascending order; `refillMs` is the time from sending a create to a sandbox that is ready.
 */
export function baseStock(arrivals: readonly number[], refillMs: number, hitRate: number = HIT_RATE): number {
  if (arrivals.length === 0) return 0
  const counts: number[] = []
  let first = 0
  arrivals.forEach((arrival, index) => {
    while ((arrivals[first] ?? arrival) < arrival - refillMs) first += 1
    counts.push(index - first + 1)
  })
  counts.sort((left, right) => left - right)
  return counts[Math.ceil(hitRate * counts.length) - 1] ?? 0
}

/** What a pool holds ahead of demand, and what it tolerates above that before it disposes of the surplus. */
export interface Stock {
  readonly target: number
  readonly most: number
}

/**
 * Bounds a wished-for size by the requests still to come: a sandbox beyond those would never be used. Up to a quarter above
 * the target is left standing, so that a target that moves by one does not delete what it makes again a moment later.
 */
export function boundStock(wished: number, remaining: number): Stock {
  const target = Math.max(0, Math.min(wished, remaining))
  return { target, most: Math.max(0, Math.min(remaining, wished + Math.ceil(wished / 4))) }
}
