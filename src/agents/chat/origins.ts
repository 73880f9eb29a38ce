import { Pool } from 'undici'
import { type Clock, systemClock } from '../../clock.ts'
import { type EndpointBreaker, makeEndpointBreaker } from './breaker.ts'

/** A completion may be long in coming; one that takes longer than this is not. The phase's deadline is the other bound. */
const ANSWER_MS = 10 * 60_000
const CONNECT_MS = 10_000
/** Longer than tools take between two turns, so that most turns find a connection open. */
const IDLE_MS = 30_000
const MAX_REPLY_BYTES = 64 * 1024 * 1024

/** The connections to one origin, and what is known of its health. */
export interface Origin {
  readonly pool: Pool
  readonly breaker: EndpointBreaker
}

/** Shared by all rollouts of a thread. Idle connections keep no process alive and close by themselves. */
export interface Origins {
  /** `connections` at most; undefined: as many as there are requests at once, which is one a rollout at most. */
  get(origin: string, connections: number | undefined): Origin
  /** What is known of the health of one, for whoever brings its own connections. */
  health(origin: string): EndpointBreaker
  close(): Promise<void>
}

/** `answerMs`: until a reply begins, and of each silence within it, at most. */
export function makeOrigins(clock: Clock, answerMs: number = ANSWER_MS): Origins {
  const pools = new Map<string, Pool>()
  const breakers = new Map<string, EndpointBreaker>()

  function health(origin: string): EndpointBreaker {
    const breaker = breakers.get(origin) ?? makeEndpointBreaker(origin, clock)
    breakers.set(origin, breaker)
    return breaker
  }

  return {
    health,
    get(origin, connections) {
      const key = `${origin} ${connections ?? 'any'}`
      const pool =
        pools.get(key) ??
        new Pool(origin, {
          connections: connections ?? null,
          pipelining: 1,
          connectTimeout: CONNECT_MS,
          headersTimeout: answerMs,
          bodyTimeout: answerMs,
          keepAliveTimeout: IDLE_MS,
          maxResponseSize: MAX_REPLY_BYTES,
        })
      pools.set(key, pool)
      return { pool, breaker: health(origin) }
    },
    async close() {
      await Promise.all([...pools.values()].map(pool => pool.destroy()))
      pools.clear()
    },
  }
}

let ofThisThread: Origins | undefined

export function threadOrigins(): Origins {
  ofThisThread ??= makeOrigins(systemClock)
  return ofThisThread
}
