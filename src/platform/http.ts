import type { Agent } from 'undici'
import type { Clock } from '../clock.ts'
import { hideKey, nameUrl, toRetryAfterMs } from '../models/request-names.ts'
import { reportRefused, reportUnanswered, reportUnreachable } from './errors.ts'

export interface ReportHttpOptions {
  readonly key: string
  /** Connections to each server at most. */
  readonly connections: number
  /** For one request. */
  readonly deadlineMs: number
  readonly clock: Clock
}

/** Sends reports: JSON over a few connections that are kept. What the platform answers, it only has to be a success. */
export interface ReportHttp {
  /** Rejects with `report-refused`, `report-unauthorized`, `report-unanswered` or `report-unreachable`. */
  post(url: string, json: string): Promise<void>
  /** Cuts what is under way. */
  close(): Promise<void>
}

const CONNECT_MS = 10_000
const KEEP_MS = 30_000
/** Of the words of a refusal. */
const MOST_WORDS = 300

export function openReportHttp({ key, connections, deadlineMs, clock }: ReportHttpOptions): ReportHttp {
  const under = new Set<AbortController>()
  let opened: Promise<Agent> | undefined
  let isClosed = false

  async function open(): Promise<Agent> {
    const { Agent } = await import('undici')
    const connect = { timeout: CONNECT_MS }
    // The one deadline is the clock's.
    return new Agent({ connections, connect, keepAliveTimeout: KEEP_MS, headersTimeout: 0, bodyTimeout: 0 })
  }

  async function exchange(url: string, json: string, signal: AbortSignal): Promise<void> {
    const call = { method: 'POST', url: nameUrl(url) }
    opened ??= open()
    const { origin, pathname } = new URL(url)
    const { statusCode, headers, body } = await (await opened).request({
      origin,
      path: pathname,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
      body: json,
      signal,
    })
    if (statusCode >= 200 && statusCode < 300) return await body.dump()
    const text = await body.text()
    const words = hideKey(text, key).replaceAll(/\s+/g, ' ').trim().slice(0, MOST_WORDS)
    throw reportRefused(call, statusCode, words, toRetryAfterMs(headers['retry-after'], clock.wallTime()))
  }

  return {
    async post(url, json) {
      const call = { method: 'POST', url: nameUrl(url) }
      const controller = new AbortController()
      let isLate = false
      const cancel = clock.after(deadlineMs, () => {
        isLate = true
        controller.abort()
      })
      under.add(controller)
      if (isClosed) controller.abort()
      try {
        await exchange(url, json, controller.signal)
      } catch (error) {
        if (isLate) throw reportUnanswered(call, deadlineMs)
        if (error instanceof Error && 'tag' in error) throw error
        throw reportUnreachable(call, error)
      } finally {
        under.delete(controller)
        cancel()
      }
    },
    async close() {
      isClosed = true
      for (const controller of under) controller.abort()
      await (await opened)?.destroy()
    },
  }
}
