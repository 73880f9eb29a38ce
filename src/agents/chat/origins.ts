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
  close(): Promise<void>
}

export function makeOrigins(clock: Clock): Origins {
  const pools = new Map<string, Pool>()
  const breakers = new Map<string, EndpointBreaker>()
  return {
    get(origin, connections) {
      const key = `${origin} ${connections ?? 'any'}`
      const pool =
        pools.get(key) ??
        new Pool(origin, {
          connections: connections ?? null,
          pipelining: 1,
          connectTimeout: CONNECT_MS,
          headersTimeout: ANSWER_MS,
          bodyTimeout: ANSWER_MS,
          keepAliveTimeout: IDLE_MS,
          maxResponseSize: MAX_REPLY_BYTES,
        })
      pools.set(key, pool)
      const breaker = breakers.get(origin) ?? makeEndpointBreaker(origin, clock)
      breakers.set(origin, breaker)
      return { pool, breaker }
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
