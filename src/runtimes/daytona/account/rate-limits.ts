/** What the provider's answers say of its rate limits. Pure: times go in and come out in milliseconds since 1970. */
import type { WindowLeft } from '../../token-bucket.ts'

/** Below it a number of seconds counts from now; above it, from 1970. */
const EPOCH_SECONDS = 1e9
/** Above it a number counts milliseconds since 1970. */
const EPOCH_MS = 1e12

/**
 * How long to stay away, in milliseconds: the longest of `Retry-After-{throttler}`, else `Retry-After`, each as seconds or as an HTTP date (RFC 9110,
 * 10.2.3). A date is reckoned from the answer's own `Date`, where it has one. Undefined: the answer does not say.
 */
export function readRetryAfterMs(headers: Readonly<Record<string, string>>, wallTime: number): number | undefined {
  const now = toTime(headers.date) ?? wallTime
  const named = Object.entries(headers).flatMap(([name, text]) =>
    name.startsWith('retry-after-') ? (toDelayMs(text, now) ?? []) : [],
  )
  if (named.length > 0) return Math.max(...named)
  return headers['retry-after'] === undefined ? undefined : toDelayMs(headers['retry-after'], now)
}

/** What is left of a throttler's window and when the next begins; undefined where the answer does not say both. How much a whole one has, where it says that, too. */
export function readRateLimit(
  headers: Readonly<Record<string, string>>,
  throttler: string,
  wallTime: number,
): WindowLeft | undefined {
  const remaining = toNumber(headers[`x-ratelimit-remaining-${throttler}`])
  const reset = toNumber(headers[`x-ratelimit-reset-${throttler}`])
  if (remaining === undefined || reset === undefined) return undefined
  const limit = toNumber(headers[`x-ratelimit-limit-${throttler}`])
  return { remaining, resetAt: toResetAt(reset, wallTime), ...(limit === undefined ? {} : { limit }) }
}

function toResetAt(reset: number, wallTime: number): number {
  if (reset >= EPOCH_MS) return reset
  return reset >= EPOCH_SECONDS ? reset * 1_000 : wallTime + reset * 1_000
}

function toDelayMs(text: string, now: number): number | undefined {
  const seconds = toNumber(text)
  if (seconds !== undefined) return seconds * 1_000
  const time = toTime(text)
  return time === undefined ? undefined : Math.max(0, time - now)
}

function toTime(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function toNumber(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}
