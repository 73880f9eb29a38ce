import { hide } from '../../../redact.ts'

/** What a call to the provider failed with, read from what the generated clients and the SDK throw. Never holds a header that was sent. */
export interface Failure {
  /** Of the answer; undefined when none came. */
  readonly status: number | undefined
  /** `ECONNRESET`, `ECONNABORTED`: why none came. */
  readonly code: string | undefined
  /** Of the answer, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The provider's own words, or the system's where none came. HTML is left out. */
  readonly said: string
  /** `POST`; empty where it is not known. */
  readonly method: string
  /** Without its query, where tokens travel. */
  readonly url: string | undefined
  /** The reason of the signal that ended the call. */
  readonly cancelled: { readonly reason: unknown } | undefined
}

/** Codes of failures before a byte was sent, so that the provider cannot have seen the request. */
export const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
])

/** Undefined for what is no failed call. */
export function readFailure(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof Error)) return undefined
  const error: Readonly<Record<string, unknown>> = { ...thrown }
  const isCall = error.isAxiosError === true || 'statusCode' in error || error.code === 'ERR_CANCELED'
  if (!isCall) return undefined
  const config = toRecord(error.config)
  const response = toRecord(error.response)
  const status = toNumber(response.status) ?? toNumber(error.status) ?? toNumber(error.statusCode)
  const code = typeof error.code === 'string' ? error.code : undefined
  return {
    status,
    code,
    headers: toHeaders(response.headers ?? error.headers),
    said: toWords(response.data) ?? toWords(thrown.message) ?? '',
    method: typeof config.method === 'string' ? config.method.toUpperCase() : '',
    url: typeof config.url === 'string' ? withoutQuery(config.url) : undefined,
    cancelled: code === 'ERR_CANCELED' ? { reason: toReason(config.signal) } : undefined,
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function toHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(toRecord(value)))
    if (typeof text === 'string' || typeof text === 'number') headers[name.toLowerCase()] = String(text)
  return headers
}

const MAX_WORDS = 600

/** The `message` of the provider's error bodies, which is a text or a list of them; a plain text; undefined for a page. */
function toWords(body: unknown): string | undefined {
  if (Array.isArray(body)) return hide(body.map(String).join('; ')).slice(0, MAX_WORDS)
  if (typeof body === 'object' && body !== null) return 'message' in body ? toWords(body.message) : undefined
  if (typeof body !== 'string' || body.trim() === '' || /^\s*</.test(body)) return undefined
  // Before it is cut: half a secret would not be recognised.
  return hide(body.trim()).slice(0, MAX_WORDS)
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

function toReason(signal: unknown): unknown {
  return signal instanceof AbortSignal ? signal.reason : undefined
}
