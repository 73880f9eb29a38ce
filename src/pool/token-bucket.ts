/** A limit on how often something is done: `burst` at once, then `perSecond`. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** The sum of many small drips may miss a whole token by a rounding error. */
const WHOLE = 1 - 1e-6

/**
 * One bucket per account: tokens drip in at `perSecond` up to `burst`, and each create takes one. A provider that says when to come
 * back (`Retry-After`) empties it until then.
 */
export interface TokenBucket {
  /** Takes a token if there is one. */
  take(now: number): boolean
  /** When the next token can be had: `now` if at once. */
  nextAt(now: number): number
  /** No token before `until`, whatever has dripped in. */
  pause(until: number): void
}

/** Without a rate every token is there at once, unless paused. */
export function makeTokenBucket(rate: Rate | undefined): TokenBucket {
  let tokens = rate?.burst ?? Number.POSITIVE_INFINITY
  let filledAt: number | undefined
  let pausedUntil = Number.NEGATIVE_INFINITY

  function refill(now: number): void {
    if (rate === undefined) return
    if (filledAt !== undefined) tokens = Math.min(rate.burst, tokens + ((now - filledAt) / 1_000) * rate.perSecond)
    filledAt = now
  }

  return {
    take(now) {
      if (now < pausedUntil) return false
      refill(now)
      if (tokens < WHOLE) return false
      tokens = Math.max(0, tokens - 1)
      return true
    },
    nextAt(now) {
      refill(now)
      const waitMs = rate === undefined || tokens >= WHOLE ? 0 : Math.ceil(((1 - tokens) / rate.perSecond) * 1_000)
      return Math.max(now + waitMs, pausedUntil)
    },
    pause(until) {
      pausedUntil = Math.max(pausedUntil, until)
    },
  }
}
