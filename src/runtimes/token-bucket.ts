/** A limit on how often something is done: `burst` at once, then `perSecond`. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** The sum of many small drips may miss a whole token by a rounding error. */
const WHOLE = 1 - 1e-6
/** Ends of one window, reckoned from whole seconds, differ by as much. */
const SAME_WINDOW_MS = 2_000

/** What a provider says of its own limit, in times of the clock. */
export interface WindowLeft {
  readonly remaining: number
  /** When its window begins anew. */
  readonly resetAt: number
  /** Of a whole window, where it says. */
  readonly limit?: number
}

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
  /** What the provider itself says is left, and when its window begins anew. It knows of those who draw on the account elsewhere. */
  learn(left: WindowLeft, now: number): void
}

/** Without a rate every token is there at once, unless paused. */
export function makeTokenBucket(rate: Rate | undefined): TokenBucket {
  let tokens = rate?.burst ?? Number.POSITIVE_INFINITY
  let filledAt: number | undefined
  let pausedUntil = Number.NEGATIVE_INFINITY
  // What the provider's window still has, and when it ends. Unknown: without bound.
  let left = Number.POSITIVE_INFINITY
  let windowEnds = Number.NEGATIVE_INFINITY

  function refill(now: number): void {
    if (rate === undefined) return
    if (filledAt !== undefined) tokens = Math.min(rate.burst, tokens + ((now - filledAt) / 1_000) * rate.perSecond)
    filledAt = now
  }

  return {
    take(now) {
      if (now < pausedUntil || (now < windowEnds && left < 1)) return false
      refill(now)
      if (tokens < WHOLE) return false
      tokens = Math.max(0, tokens - 1)
      left -= 1
      return true
    },
    nextAt(now) {
      refill(now)
      const waitMs = rate === undefined || tokens >= WHOLE ? 0 : Math.ceil(((1 - tokens) / rate.perSecond) * 1_000)
      return Math.max(now + waitMs, pausedUntil, left < 1 ? windowEnds : now)
    },
    pause(until) {
      pausedUntil = Math.max(pausedUntil, until)
    },
    learn({ remaining, resetAt }, now) {
      refill(now)
      // Answers arrive out of order, so a figure within the same window is believed only when it is less.
      if (resetAt > windowEnds + SAME_WINDOW_MS || now >= windowEnds) left = remaining
      else left = Math.min(left, remaining)
      windowEnds = resetAt
    },
  }
}

/** The limits of several accounts as one: something is done when all of them have a token for it, and takes one from each. */
export function strictestOf(buckets: readonly TokenBucket[]): TokenBucket {
  const nextAt = (now: number) => Math.max(now, ...buckets.map(bucket => bucket.nextAt(now)))
  return {
    take(now) {
      if (nextAt(now) > now) return false
      return buckets.map(bucket => bucket.take(now)).every(Boolean)
    },
    nextAt,
    pause(until) {
      for (const bucket of buckets) bucket.pause(until)
    },
    learn(left, now) {
      for (const bucket of buckets) bucket.learn(left, now)
    },
  }
}

/** A bucket that others may join: something is done when all of them have a token for it. */
export interface JointBucket extends TokenBucket {
  /** Returns what lets the other go again. One that joins twice counts once, until both have gone. */
  join(other: TokenBucket): () => void
}

export function makeJointBucket(own: TokenBucket): JointBucket {
  const all = [own]
  const joined: TokenBucket[] = []
  return {
    ...strictestOf(all),
    join(other) {
      if (!joined.includes(other)) all.push(other)
      joined.push(other)
      return () => {
        const index = joined.indexOf(other)
        if (index >= 0) joined.splice(index, 1)
        if (!joined.includes(other) && all.includes(other)) all.splice(all.indexOf(other), 1)
      }
    },
  }
}
