import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { hideKey, toRetryAfterMs } from '../../models/request-names.ts'
import { tracingHeaders } from '../own-endpoint.ts'
import { type Attempt, askUntilAnswered, readRefusal } from './ask.ts'
import type { ChatSettings } from './config.ts'
import { badChatReply } from './errors.ts'
import type { Origin, Origins } from './origins.ts'

/** Posts bodies to one model's endpoint. */
export interface ChatClient {
  /**
   * The reply's JSON. An attempt that the server turned away for now (429, 5xx, no connection) is made again, as it may be because a
   * completion changes nothing there, until the waits between attempts reach two minutes or `signal` aborts. Rejects with the signal's reason (with
   * `chat-unavailable` where an attempt had failed before), `endpoint-down`, `chat-unavailable`, `unknown-model`, `unauthorized`, `chat-refused` or `bad-chat-reply`.
   * An endpoint of the user's own is told what the request is part of.
   */
  post(body: string, signal: AbortSignal, random: () => number, traceparent?: string): Promise<unknown>
}

const WORDS_CHARACTERS = 300

export function makeChatClient(
  settings: Pick<ChatSettings, 'model' | 'url' | 'isOwn' | 'apiKeyVariable' | 'connections'>,
  key: string | undefined,
  ports: { readonly clock: Clock; readonly origins: Origins },
): ChatClient {
  const { url } = settings
  const { origin, pathname } = new URL(url)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }

  async function attempt(
    { pool, breaker }: Origin,
    body: string,
    signal: AbortSignal,
    traceparent: string | undefined,
  ): Promise<Attempt<unknown>> {
    const isProbe = breaker.enter()
    let status: number
    let text: string
    let retryAfter: string | string[] | undefined
    try {
      const all = { ...headers, ...tracingHeaders(settings.isOwn, traceparent) }
      const response = await pool.request({ path: pathname, method: 'POST', headers: all, body, signal })
      status = response.statusCode
      retryAfter = response.headers['retry-after']
      text = await response.body.text()
      // undici takes a connection back one turn of the event loop after its reply; a next request that came sooner would open another.
      await setImmediate()
    } catch (error) {
      if (signal.aborted) {
        breaker.calledOff(isProbe)
        throw signal.reason
      }
      const words = hideKey(messageOf(error), key)
      breaker.failed(words)
      return { type: 'later', words, retryAfterMs: undefined }
    }
    if (status < 500) breaker.alive()
    if (status >= 200 && status < 300) return { type: 'answered', value: parseJson(text) }
    const said = wordsOf(hideKey(text, key))
    if (status >= 500) breaker.failed(`HTTP ${status}: ${said}`)
    return readRefusal(settings, status, said, toRetryAfterMs(retryAfter, ports.clock.wallTime()))
  }

  function parseJson(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw badChatReply(url, `no JSON: ${hideKey(text, key).slice(0, 80)}`)
    }
  }

  return {
    async post(body, signal, random, traceparent) {
      const place = ports.origins.get(origin, settings.connections)
      const ask = () => attempt(place, body, signal, traceparent)
      return askUntilAnswered(url, ask, { clock: ports.clock, signal, random })
    },
  }
}

/** What an error of the way there says. Several addresses that all refused make one without a message. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error && String(error.code)) || error.name
}

/** The `message` of an error body as OpenAI's and most others have it, else its text. */
function wordsOf(text: string): string {
  let words = text
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) words = messageIn(value) ?? text
  } catch {
    // no JSON: its text says it
  }
  return words.slice(0, WORDS_CHARACTERS).trim() || 'no further word'
}

function messageIn(value: object): string | undefined {
  if ('error' in value) {
    if (typeof value.error === 'string') return value.error
    if (typeof value.error === 'object' && value.error !== null) return messageIn(value.error)
  }
  for (const key of ['message', 'detail'])
    if (key in value) {
      const words: unknown = Reflect.get(value, key)
      if (typeof words === 'string') return words
    }
  return undefined
}
