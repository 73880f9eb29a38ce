import type { z } from 'zod'
import { type Clock, sleep, systemClock } from '../../clock.ts'
import { hasTag } from '../../errors.ts'
import { statusOf } from '../../models/errors.ts'
import { HttpClient } from '../../models/http.ts'
import { futureFailed, futureLate } from './errors.ts'

export interface TinkerApiOptions {
  /** Up to `/api/v1`. Default: `TINKER_BASE_URL`, or the service's own address. */
  readonly baseUrl?: string
  /** In place of `TINKER_API_KEY`. */
  readonly apiKey?: string
  /** For one result, milliseconds. Default 10 minutes. */
  readonly deadlineMs?: number
  readonly clock?: Clock
}

const SERVICE = 'https://tinker.thinkingmachines.dev/services/tinker-prod'
const DEADLINE_MS = 600_000
const FIRST_BACK_OFF_MS = 100
const LONGEST_BACK_OFF_MS = 5_000

/** The schemas of what comes back, loaded with the first call. */
const replies = () => import('./tinker-replies.ts')

/** The calls of Tinker's HTTP API: each is posted once and answered with the id of a future, whose result is then asked for. */
export class TinkerApi {
  readonly #url: string
  readonly #http: HttpClient
  readonly #clock: Clock
  readonly #deadlineMs: number

  constructor(options: TinkerApiOptions) {
    const { apiKey, baseUrl = process.env.TINKER_BASE_URL ?? SERVICE, clock = systemClock } = options
    this.#url = `${baseUrl.replace(/\/+$/, '')}/api/v1`
    this.#clock = clock
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS
    this.#http = new HttpClient({
      apiKeyVariable: 'TINKER_API_KEY',
      keyHeader: 'x-api-key',
      apiKey,
      deadlineMs: this.#deadlineMs,
      clock,
    })
  }

  /** Once. */
  async post<Reply>(route: string, body: unknown, schema: z.ZodType<Reply>): Promise<Reply> {
    return this.#http.send('POST', `${this.#url}/${route}`, JSON.stringify(body), schema)
  }

  /**
   * Posts once, and asks for the result until it is there: asking changes nothing, so that is done again whatever is in its way. Rejects
   * as `HttpClient.send` does where the post failed, with `tinker-request-failed`, or with `tinker-late`.
   */
  async call<Reply>(route: string, body: unknown, schema: z.ZodType<Reply>): Promise<Reply> {
    const { futureReply } = await replies()
    const { request_id } = await this.post(route, body, futureReply)
    return this.#result(route, request_id, schema)
  }

  close(): Promise<void> {
    return this.#http.close()
  }

  async #result<Reply>(route: string, requestId: string, schema: z.ZodType<Reply>): Promise<Reply> {
    const { pendingOr } = await replies()
    const end = this.#clock.now() + this.#deadlineMs
    let waitMs = FIRST_BACK_OFF_MS
    for (;;) {
      const found = await this.#retrieve(requestId, pendingOr(schema))
      if (found?.type === 'done') return found.value
      if (found?.type === 'failed') throw futureFailed(route, requestId, found)
      if (this.#clock.now() + waitMs > end) throw futureLate(route, requestId, this.#deadlineMs)
      await sleep(this.#clock, waitMs)
      waitMs = Math.min(2 * waitMs, LONGEST_BACK_OFF_MS)
    }
  }

  /** Undefined where it is to be asked for again. */
  async #retrieve<Reply>(request_id: string, schema: z.ZodType<Reply>): Promise<Reply | undefined> {
    try {
      return await this.post('retrieve_future', { request_id }, schema)
    } catch (error) {
      const passes = ['service-unreachable', 'service-error', 'rate-limited'].some(tag => hasTag(error, tag))
      if (statusOf(error) === 408 || passes) return undefined
      throw error
    }
  }
}
