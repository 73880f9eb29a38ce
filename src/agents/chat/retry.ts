const FIRST_MS = 500
const LONGEST_MS = 30_000
/** A server that asks for more is not waited for. */
export const LONGEST_RETRY_AFTER_MS = 60_000
/** Waits of one request between its attempts, together. */
export const ALL_WAITS_MS = 120_000

/** 408, 409, 429 and whatever is the server's fault: the same request may succeed later. */
export function isWorthRetrying(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/**
 * The pause before the attempt after the `attempt`-th: what the server asked for and up to a quarter more, or 500 ms doubling to 30 s,
 * of which chance takes up to half. Without chance, all who were turned away come back together.
 */
export function retryDelay(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs !== undefined) return retryAfterMs * (1 + random() / 4)
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1)) * (1 - random() / 2)
}
