import type { CancelTimer, Clock } from '../clock.ts'
import { makeTokenBucket, type TokenBucket, type WindowLeft } from '../runtimes/token-bucket.ts'
import type { ProviderSeen, TokensAsked, TokensGiven } from './limit-book.ts'

export interface SharedBucketPorts {
  readonly account: string
  readonly clock: Clock
  /** Asks whoever keeps the account's bucket. Rejects where that one is not reached. */
  readonly ask: (asked: TokensAsked) => Promise<TokensGiven>
  readonly giveBack: (given: Pick<TokensGiven, 'tokens' | 'window'> & { readonly account: string }) => void
  /** The provider has told this worker to stay away for so long, which is for all to know. */
  readonly tellHold: (forMs: number) => void
  /** Nothing is given back any more. */
  readonly over: AbortSignal
}

/** A worker's part of a bucket that another process keeps. */
export interface SharedBucket extends TokenBucket {
  /** The provider has told another worker to stay away. */
  hold(forMs: number): void
}

/** Between two looks whether the answer has come. */
const LOOK_MS = 5
/** Between two questions while there is nothing to have, or nobody to ask. */
const ASK_AGAIN_MS = 1_000
/** Unused tokens are others' after that. */
const KEEP_MS = 1_000
const MOST_AT_ONCE = 64
const SAME_WINDOW_MS = 2_000
/** A provider's limit is for that long. */
const WINDOW_SECONDS = 60
/** Assumed where no limit was told. */
const UNTOLD_LIMIT = 60

/**
 * Takes tokens in batches that double while they are used up, and gives back what it does not use within a second. When it is not answered it goes on by itself at an equal
 * share of the rate, one at a time, and asks again each second: others may have their share, and the account no more than the whole. `nextAt` is a question for
 * a token: it asks for more where there are none.
 */
export function makeSharedBucket({ account, clock, ask, giveBack, tellHold, over }: SharedBucketPorts): SharedBucket {
  let tokens = 0
  let window = 0
  let batch = 1
  let workers = 1
  let limit: number | undefined
  let seen: WindowLeft | undefined
  let isAsking = false
  let askAt = Number.NEGATIVE_INFINITY
  let heldUntil = Number.NEGATIVE_INFINITY
  /** What it goes by while nobody answers. */
  let alone: TokenBucket | undefined
  let cancelKeep: CancelTimer = () => {}

  function returnUnused(): void {
    if (tokens > 0) giveBack({ account, tokens, window })
    tokens = 0
    batch = 1
  }

  async function request(now: number): Promise<void> {
    isAsking = true
    cancelKeep()
    const news = toSeen(seen, now)
    try {
      accept(await ask({ account, wanted: batch, ...(news === undefined ? {} : { seen: news }) }))
    } catch {
      // That the coordinator is not reached is told by who listens for it; here it is a reason to go on alone.
      askAt = clock.now() + ASK_AGAIN_MS
      alone ??= makeTokenBucket({ perSecond: (limit ?? UNTOLD_LIMIT) / WINDOW_SECONDS / workers, burst: 1 })
    }
    isAsking = false
  }

  function accept(given: TokensGiven): void {
    alone = undefined
    ;({ tokens, window } = given)
    workers = Math.max(1, given.workers)
    limit = given.limit ?? limit
    batch = tokens < batch ? Math.max(1, tokens) : Math.min(MOST_AT_ONCE, batch * 2)
    askAt = clock.now() + Math.min(ASK_AGAIN_MS, given.againInMs)
    if (tokens > 0 && !over.aborted) cancelKeep = clock.after(Math.min(KEEP_MS, given.validMs), returnUnused)
  }

  function nextAt(now: number): number {
    if (now < heldUntil) return heldUntil
    if (tokens > 0) return now
    if (!isAsking && now >= askAt && !over.aborted) void request(now)
    const askedAt = isAsking ? now + LOOK_MS : Math.max(now + LOOK_MS, askAt)
    return alone === undefined ? askedAt : Math.min(askedAt, alone.nextAt(now))
  }

  over.addEventListener('abort', () => cancelKeep(), { once: true })
  return {
    nextAt,
    take(now) {
      if (nextAt(now) > now) return false
      if (tokens === 0) return alone?.take(now) ?? false
      tokens -= 1
      return true
    },
    pause(until) {
      if (until <= heldUntil) return
      heldUntil = until
      tellHold(until - clock.now())
    },
    hold(forMs) {
      heldUntil = Math.max(heldUntil, clock.now() + forMs)
    },
    learn(left, now) {
      limit = left.limit ?? limit
      if (seen === undefined || now >= seen.resetAt || left.resetAt > seen.resetAt + SAME_WINDOW_MS) seen = left
      else if (left.resetAt >= seen.resetAt - SAME_WINDOW_MS && left.remaining < seen.remaining) seen = left
    },
  }
}

function toSeen(left: WindowLeft | undefined, now: number): ProviderSeen | undefined {
  if (left === undefined || left.resetAt <= now) return undefined
  const { remaining, limit, resetAt } = left
  return { remaining, resetInMs: resetAt - now, ...(limit === undefined ? {} : { limit }) }
}
