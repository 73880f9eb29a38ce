import { makeTokenBucket, type TokenBucket } from '../token-bucket.ts'

/** A bucket that is there before the account whose limit it is. Until then, nothing is known that would hold anybody up. */
export interface LateBucket extends TokenBucket {
  attach(bucket: TokenBucket): void
}

export function makeLateBucket(): LateBucket {
  let inner = makeTokenBucket(undefined)
  return {
    take: now => inner.take(now),
    nextAt: now => inner.nextAt(now),
    pause: until => inner.pause(until),
    learn: (left, now) => inner.learn(left, now),
    attach(bucket) {
      inner = bucket
    },
  }
}
