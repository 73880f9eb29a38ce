import { setMaxListeners } from 'node:events'
import { createRequire } from 'node:module'
import type { Clock } from '../../../clock.ts'
import type { TokenBucket } from '../../token-bucket.ts'
import { accountReleased } from './errors.ts'
import { type Failure, NEVER_SENT, readFailure, toHeaders } from './failure.ts'
import { readRateLimit, readRetryAfterMs } from './rate-limits.ts'
import { retry } from './retry.ts'
import { type AxiosAdapter, type AxiosModule, makeUndiciAdapter } from './undici-adapter.ts'

type AxiosInstance = ReturnType<AxiosModule['create']>
type RequestConfig = Parameters<AxiosAdapter>[0]

export interface ProviderHttp {
  readonly axios: AxiosInstance
  /** Ends calls that are under way, and their sockets. */
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 60_000
const RETRIES = 2
const BACKOFF_MS = 250
/** A window of the provider's limits is a minute: who is told to stay away for longer had better hear of it. */
const MAX_STAY_AWAY_MS = 65_000
const CREATE_THROTTLER = 'sandbox-create'
const REMAINING = `x-ratelimit-remaining-${CREATE_THROTTLER}`
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])
/** What a server does to a kept-alive socket, too, that it has closed by the time it is used. */
const CUT = new Set(['ECONNRESET', 'EPIPE'])

/**
 * One axios instance for all generated clients of an account: kept-alive sockets without Nagle's delay, as many as there are calls. What answers say of
 * the limit on creates is told to `creates`. Calls that change nothing if made twice are made again, twice at most, after a cut socket, a 429 or a 5xx;
 * creates and forks never are.
 */
export function makeProviderHttp(creates: TokenBucket, clock: Clock, random: () => number = Math.random): ProviderHttp {
  // The copy that the generated clients load, too, and only when an account is opened.
  const axios: AxiosModule = createRequire(import.meta.url)('axios')
  const { send, close } = makeUndiciAdapter(axios)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one for each call that waits to be made again
  const adapter = withRetries(send, clock, random, closing.signal)
  const instance = axios.create({ timeout: REQUEST_TIMEOUT_MS, adapter })
  instance.interceptors.response.use(
    response => {
      // Names are in lower case here, and most answers say nothing of creates.
      if (REMAINING in response.headers) learn(toHeaders(response.headers))
      return response
    },
    (error: unknown) => {
      const failure = readFailure(error)
      if (failure !== undefined) {
        learn(failure.headers)
        if (failure.status === 429 && isCreate(failure)) pause(failure)
      }
      throw error
    },
  )

  function learn(headers: Readonly<Record<string, string>>): void {
    // Looked at once: between two looks the wall clock may have been set by hours.
    const [wallTime, now] = [clock.wallTime(), clock.now()]
    const left = readRateLimit(headers, CREATE_THROTTLER, wallTime)
    if (left !== undefined) creates.learn({ ...left, resetAt: now + (left.resetAt - wallTime) }, now)
  }

  function pause({ headers }: Failure): void {
    creates.pause(clock.now() + (readRetryAfterMs(headers, clock.wallTime()) ?? 1_000))
  }

  return {
    axios: instance,
    close() {
      // Whoever still waits for another try hears of it now, and nobody begins one.
      closing.abort(accountReleased())
      return close()
    },
  }
}

function isCreate({ method, url = '' }: Pick<Failure, 'method' | 'url'>): boolean {
  return method === 'POST' && /\/sandbox(\/[^/]+\/fork)?$/.test(url)
}

function withRetries(send: AxiosAdapter, clock: Clock, random: () => number, closing: AbortSignal): AxiosAdapter {
  return config => {
    const { signal } = config
    const toPauseMs = (error: unknown, tried: number) => {
      const waitMs = tried > RETRIES ? undefined : toWaitMs(error, config, tried)
      return waitMs === undefined ? undefined : waitMs + random() * BACKOFF_MS
    }
    const work = () => {
      closing.throwIfAborted()
      return send(config)
    }
    return retry(clock, work, toPauseMs, signal instanceof AbortSignal ? AbortSignal.any([signal, closing]) : closing)
  }

  function toWaitMs(error: unknown, config: RequestConfig, tried: number): number | undefined {
    const failure = readFailure(error)
    if (failure === undefined || failure.cancelled !== undefined || isStream(config.data)) return undefined
    const { status, code = '' } = failure
    const backoffMs = BACKOFF_MS * tried
    if (status === undefined)
      return NEVER_SENT.has(code) || (CUT.has(code) && IDEMPOTENT.has(failure.method)) ? backoffMs : undefined
    // A 429 was not carried out, so any call may be made again; creates are left to the bucket and to who waits for it.
    const again =
      status === 429 ? !isCreate(failure) : status >= 500 && status !== 501 && IDEMPOTENT.has(failure.method)
    if (!again) return undefined
    const stayAwayMs = readRetryAfterMs(failure.headers, clock.wallTime()) ?? backoffMs
    return stayAwayMs > MAX_STAY_AWAY_MS ? undefined : stayAwayMs
  }
}

/** Read to its end by the first attempt. */
function isStream(data: unknown): boolean {
  return typeof data === 'object' && data !== null && ('pipe' in data || 'getReader' in data)
}
