import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Agent, Dispatcher } from 'undici'
import type { z } from 'zod'
import { type Clock, sleep, systemClock } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import { noteSecret } from '../redact.ts'
import {
  badReply,
  type CallName,
  clientClosed,
  noKey,
  type Refusal,
  refused,
  statusOf,
  tooLate,
  unreachable,
} from './errors.ts'
import { findApiKey, hideKey, nameUrl, toRetryAfterMs } from './request-names.ts'

export interface HttpOptions {
  /** Names the variable that holds the key; absent where none is asked for. */
  readonly apiKeyVariable?: string | undefined
  /** In place of the variable. */
  readonly apiKey?: string | undefined
  /** The header that carries the key alone. Default: `authorization`, as a bearer's. */
  readonly keyHeader?: string
  readonly env?: NodeJS.ProcessEnv | undefined
  /** For one call with its retries, milliseconds. Default 10 minutes: a training call takes as long as the training. */
  readonly deadlineMs?: number | undefined
  readonly clock?: Clock | undefined
}

/** A request's JSON, as text or as bytes whose number is known before the first of them is sent. */
export type HttpBody = string | { readonly bytes: number; readonly chunks: Iterable<Uint8Array> }

const DEADLINE_MS = 600_000
const GET_ATTEMPTS = 4
const FIRST_BACK_OFF_MS = 250
const LONGEST_WAIT_MS = 30_000
const WORDS = 300
const CONNECTION = { connect: { timeout: 10_000 }, maxResponseSize: 1024 * 1024 * 1024 }

/** How far a call has come. */
interface Progress {
  readonly call: CallName
  readonly late: AbortSignal
  readonly key: string | undefined
  /** Its last byte has been handed to the connection: before that, no server can have acted on it. */
  sentWhole: boolean
  succeeded: boolean
}

/** JSON over HTTP with one key. GETs share connections and are made again where that may help; nothing else ever is. */
export class HttpClient implements AsyncDisposable {
  readonly #options: HttpOptions
  readonly #clock: Clock
  #agent: Promise<Agent> | undefined
  #closed = false

  constructor(options: HttpOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Up to four times, with back-off or as `Retry-After` says, all under the one deadline. Rejects with `no-key`, `unauthorized`,
   * `rate-limited`, `request-refused`, `service-error`, `service-unreachable` or `bad-reply`.
   */
  async get<Reply>(url: string, schema: z.ZodType<Reply>): Promise<Reply> {
    return this.#underDeadline('GET', url, async progress => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          // Loading it takes longer than all the rest of this package together.
          this.#agent ??= import('undici').then(({ Agent }) => new Agent(CONNECTION))
          return await this.#exchange(await this.#agent, progress, url, schema)
        } catch (error) {
          const waitMs = this.#waitBeforeAgain(error, attempt)
          if (waitMs === undefined || attempt === GET_ATTEMPTS || progress.late.aborted) throw error
          await sleep(this.#clock, waitMs, progress.late)
        }
      }
    })
  }

  /**
   * Once, and over a connection of its own: one that was kept alive may turn out to be dead only after the request was written to
   * it, and then nobody knows whether it arrived. Rejects as `get` does, or with `body-too-large`; `deliveryOf` tells of the
   * error what became of the request.
   */
  async send<Reply>(method: 'POST' | 'PUT', url: string, body: HttpBody, schema: z.ZodType<Reply>): Promise<Reply> {
    return this.#underDeadline(method, url, async progress => {
      const { Client } = await import('undici')
      // Without pipelining, a connection carries one request and is closed.
      const connection = new Client(new URL(url).origin, { ...CONNECTION, pipelining: 0 })
      try {
        return await this.#exchange(connection, progress, url, schema, body)
      } finally {
        await connection.destroy()
      }
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const agent = await this.#agent
    this.#agent = undefined
    await agent?.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #underDeadline<Reply>(
    method: string,
    url: string,
    work: (progress: Progress) => Promise<Reply>,
  ): Promise<Reply> {
    const call = { method, url: nameUrl(url) }
    if (this.#closed) throw clientClosed(call.url)
    const { apiKeyVariable, deadlineMs = DEADLINE_MS } = this.#options
    const key = findApiKey(this.#options)
    noteSecret(key)
    if (key === undefined && apiKeyVariable !== undefined) throw noKey(apiKeyVariable, call.url)
    const late = new AbortController()
    const progress: Progress = { call, late: late.signal, key, sentWhole: false, succeeded: false }
    const cancel = this.#clock.after(deadlineMs, () => late.abort())
    try {
      return await work(progress)
    } catch (error) {
      const isAnswer = error instanceof TroupeError && (statusOf(error) !== undefined || progress.succeeded)
      throw late.signal.aborted && !isAnswer ? tooLate(call, progress.sentWhole, deadlineMs) : error
    } finally {
      cancel()
    }
  }

  async #exchange<Reply>(
    dispatcher: Dispatcher,
    progress: Progress,
    url: string,
    schema: z.ZodType<Reply>,
    body?: HttpBody,
  ): Promise<Reply> {
    const sent = typeof body === 'string' ? toBytes(body) : body
    const text = await this.#request(dispatcher, progress, url, sent)
    return parseReply(progress, text, schema)
  }

  async #request(
    dispatcher: Dispatcher,
    progress: Progress,
    url: string,
    body: Exclude<HttpBody, string> | undefined,
  ): Promise<string> {
    const { call, key } = progress
    const { origin, pathname, search } = new URL(url)
    let refusal: Refusal
    try {
      const reply = await dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method: call.method,
        headers: {
          accept: 'application/json',
          ...this.#authorize(key),
          ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.bytes) }),
        },
        body: body === undefined ? null : toStream(body, progress),
        signal: progress.late,
        // The one deadline is the clock's.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      const { statusCode: status, headers } = reply
      progress.succeeded = status >= 200 && status < 300
      if (progress.succeeded) return await reply.body.text()
      const retryAfterMs = toRetryAfterMs(headers['retry-after'], this.#clock.wallTime())
      const words = await firstWords(reply.body, key)
      refusal = { status, words, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    } catch (error) {
      if (progress.succeeded) throw badReply(call, ['it broke off'], '', error)
      throw unreachable(call, progress.sentWhole, error)
    }
    throw refused(call, refusal, body?.bytes ?? 0)
  }

  #authorize(key: string | undefined): Readonly<Record<string, string>> {
    const { keyHeader } = this.#options
    if (key === undefined) return {}
    return keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key }
  }

  /** Undefined where a second try would end as the first did. */
  #waitBeforeAgain(error: unknown, attempt: number): number | undefined {
    if (!(error instanceof TroupeError)) return undefined
    const { tag, details } = error.data
    if (tag !== 'service-unreachable' && tag !== 'service-error' && tag !== 'rate-limited') return undefined
    const asked = details?.retryAfterMs
    return Math.min(typeof asked === 'number' ? asked : FIRST_BACK_OFF_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
  }
}

function toBytes(text: string): Exclude<HttpBody, string> {
  const bytes = new TextEncoder().encode(text)
  return { bytes: bytes.byteLength, chunks: [bytes] }
}

/** Read no further ahead than one chunk, so that `sentWhole` means it. */
function toStream({ bytes, chunks }: Exclude<HttpBody, string>, progress: Progress): Readable {
  async function* noteSent() {
    let left = bytes
    for (const chunk of chunks) {
      // A peer as fast as this thread would otherwise keep it at this until the end; and an answer that comes early, as 413 does,
      // must be read before the next write finds the connection closed.
      if (left < bytes) await setImmediate()
      left -= chunk.byteLength
      // Before it is handed over: in doubt it was sent.
      if (left <= 0) progress.sentWhole = true
      yield chunk
    }
  }
  return Readable.from(noteSent(), { objectMode: false, highWaterMark: 1 })
}

/** The beginning of a refusal's body in one line. The rest is not waited for. */
async function firstWords(body: AsyncIterable<Uint8Array>, key: string | undefined): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= 4 * WORDS) break
    }
  } catch {
    // It broke off: the status is known, and what came of the words will do.
  }
  return hideKey(text, key).replaceAll(/\s+/g, ' ').trim().slice(0, WORDS)
}

function parseReply<Reply>({ call, key }: Progress, text: string, schema: z.ZodType<Reply>): Reply {
  const words = hideKey(text.slice(0, WORDS), key)
  let data: unknown
  try {
    data = text === '' ? {} : JSON.parse(text)
  } catch (error) {
    throw badReply(call, ['it is no JSON'], words, error)
  }
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'reply'}: ${message}`)
  throw badReply(call, problems, words)
}
