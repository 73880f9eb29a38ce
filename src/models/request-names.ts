/** What of a request may be named, and where its key comes from. */
import { badKey } from './errors.ts'

/** Without user, password and query: an address that may stand in a log. */
export function nameUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** No header could carry anything else, and whoever sends would take that for a service out of reach. */
const SENDABLE = /^[\x21-\x7e]+$/

/** An empty variable is no key. Throws `bad-key` for one that cannot be sent. */
export function findApiKey(options: {
  readonly apiKey?: string | undefined
  readonly apiKeyVariable?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}): string | undefined {
  const { apiKey, apiKeyVariable, env = process.env } = options
  const key = apiKey ?? (apiKeyVariable === undefined ? undefined : env[apiKeyVariable])
  if (key === undefined || key.trim() === '') return undefined
  if (!SENDABLE.test(key.trim())) throw badKey(apiKey === undefined ? apiKeyVariable : undefined)
  return key.trim()
}

/** A service may say back what it was sent. */
export function hideKey(text: string, key: string | undefined): string {
  return key === undefined ? text : text.replaceAll(key, '[key]')
}

/** `Retry-After` as seconds or as a date, in milliseconds from `now` (since 1970); undefined where it is neither. */
export function toRetryAfterMs(header: string | readonly string[] | undefined, now: number): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0]
  if (text === undefined) return undefined
  const seconds = Number(text)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}
