import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { createRequire } from 'node:module'
import { type Clock, sleep } from '../../clock.ts'
import type { TokenBucket } from '../token-bucket.ts'
import { type Failure, readFailure, toHeaders } from './failure.ts'
import { readRateLimit, readRetryAfterMs } from './rate-limits.ts'

/** As the generated clients see it, which are CommonJS: to the compiler its other types are strangers. */
type AxiosModule = typeof import('axios', { with: { 'resolution-mode': 'require' }})
type AxiosInstance = ReturnType<AxiosModule['create']>
type AxiosAdapter = ReturnType<AxiosModule['getAdapter']>
type RequestConfig = Parameters<AxiosAdapter>[0]

export interface ProviderHttp {
  readonly axios: AxiosInstance
  /** Closes idle sockets; those in use close when their call ends. */
  close(): void
}

const REQUEST_TIMEOUT_MS = 60_000
const RETRIES = 2
const BACKOFF_MS = 250
/** A window of the provider's limits is a minute: who is told to stay away for longer had better hear of it. */
const MAX_STAY_AWAY_MS = 65_000
const CREATE_THROTTLER = 'sandbox-create'
const REMAINING = `x-ratelimit-remaining-${CREATE_THROTTLER}`
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])
/** Before a byte was sent, so that the server cannot have seen the request. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])
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
  const sockets = { keepAlive: true, noDelay: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 1_024 }
  const httpAgent = new HttpAgent(sockets)
  const httpsAgent = new HttpsAgent(sockets)
  const send = axios.getAdapter('http')
  const instance = axios.create({
    httpAgent,
    httpsAgent,
    timeout: REQUEST_TIMEOUT_MS,
    maxRedirects: 0,
    maxBodyLength: Number.POSITIVE_INFINITY,
    maxContentLength: Number.POSITIVE_INFINITY,
    adapter: withRetries(send, clock, random),
  })
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
    const left = readRateLimit(headers, CREATE_THROTTLER, clock.wallTime())
    const now = clock.now()
    if (left !== undefined)
      creates.learn({ remaining: left.remaining, resetAt: now + (left.resetAt - clock.wallTime()) }, now)
  }

  function pause({ headers }: Failure): void {
    creates.pause(clock.now() + (readRetryAfterMs(headers, clock.wallTime()) ?? 1_000))
  }

  return {
    axios: instance,
    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

function isCreate({ method, url = '' }: Pick<Failure, 'method' | 'url'>): boolean {
  return method === 'POST' && /\/sandbox(\/[^/]+\/fork)?$/.test(url)
}

function withRetries(send: AxiosAdapter, clock: Clock, random: () => number): AxiosAdapter {
  return async config => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(config)
      } catch (error) {
        const waitMs = attempt > RETRIES ? undefined : toWaitMs(error, config, attempt)
        if (waitMs === undefined) throw error
        const { signal } = config
        await sleep(clock, waitMs + random() * BACKOFF_MS, signal instanceof AbortSignal ? signal : undefined)
      }
    }
  }

  function toWaitMs(error: unknown, config: RequestConfig, attempt: number): number | undefined {
    const failure = readFailure(error)
    if (failure === undefined || failure.cancelled !== undefined || isStream(config.data)) return undefined
    const { status, code = '' } = failure
    const backoffMs = BACKOFF_MS * attempt
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
