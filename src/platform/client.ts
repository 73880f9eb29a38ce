import type { z } from 'zod'
import { type Clock, sleep, systemClock } from '../clock.ts'
import { hasTag, TroupeError } from '../errors.ts'
import { deliveryOf, statusOf } from '../models/errors.ts'
import { HttpClient } from '../models/http.ts'
import { noPlatformKey, platformCallFailed } from './errors.ts'
import { type PlatformOptions, platformAddresses, platformKey } from './settings.ts'

export interface PlatformClientOptions extends PlatformOptions {
  /** For one call with its retries, milliseconds. Default 60,000. */
  readonly deadlineMs?: number
  readonly clock?: Clock
}

const DEADLINE_MS = 60_000
const POST_ATTEMPTS = 3
const BACK_OFF_MS = 500

/** The platform's API with one key. Errors say what was being done: `doing` is the beginning of a sentence that ends with "failed". */
export class PlatformClient implements AsyncDisposable {
  readonly apiUrl: string
  readonly webUrl: string
  readonly #http: HttpClient
  readonly #clock: Clock

  /** Throws `no-key`, before anything is sent, or `bad-platform-url`. */
  constructor(what: string, options: PlatformClientOptions = {}) {
    const key = platformKey(options)
    if (key === undefined) throw noPlatformKey(what)
    const { apiUrl, webUrl } = platformAddresses(options)
    this.apiUrl = apiUrl
    this.webUrl = webUrl
    this.#clock = options.clock ?? systemClock
    this.#http = new HttpClient({
      apiKey: key,
      deadlineMs: options.deadlineMs ?? DEADLINE_MS,
      clock: this.#clock,
    })
  }

  /** Rejects with `unauthorized`, `platform-refused` (its details have the status), `platform-failed` or `bad-reply`. */
  async get<Reply>(doing: string, path: string, schema: z.ZodType<Reply>): Promise<Reply> {
    return this.#named(doing, () => this.#http.get(`${this.apiUrl}/v2${path}`, schema))
  }

  /** The same; again only where the platform has certainly not acted on it. */
  async post<Reply>(doing: string, path: string, body: unknown, schema: z.ZodType<Reply>): Promise<Reply> {
    const json = JSON.stringify(body)
    return this.#named(doing, async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#http.send('POST', `${this.apiUrl}/v2${path}`, json, schema)
        } catch (error) {
          const isBusy = hasTag(error, 'rate-limited') || hasTag(error, 'service-unreachable')
          if (!isBusy || deliveryOf(error) !== 'rejected' || attempt === POST_ATTEMPTS) throw error
          const asked = error.data.details?.retryAfterMs
          await sleep(this.#clock, typeof asked === 'number' ? Math.min(asked, 30_000) : BACK_OFF_MS * attempt)
        }
      }
    })
  }

  close(): Promise<void> {
    return this.#http.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #named<Reply>(doing: string, call: () => Promise<Reply>): Promise<Reply> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof TroupeError) || error.tag === 'bad-reply') throw error
      throw platformCallFailed(doing, statusOf(error), error)
    }
  }
}
