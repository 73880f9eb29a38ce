import { setImmediate } from 'node:timers/promises'
import { type Clock, sleep } from '../../clock.ts'
import type { TroupeError } from '../../errors.ts'
import { hideKey, toRetryAfterMs } from '../../models/request-names.ts'
import type { ChatSettings } from './config.ts'
import {
  badChatReply,
  chatCutOff,
  chatRefused,
  chatUnavailable,
  retryTooLate,
  unauthorized,
  unknownModel,
} from './errors.ts'
import type { Origin, Origins } from './origins.ts'
import { ALL_WAITS_MS, isWorthRetrying, LONGEST_RETRY_AFTER_MS, retryDelay } from './retry.ts'

/** Posts bodies to one model's endpoint. */
export interface ChatClient {
  /**
   * The reply's JSON. An attempt that the server turned away for now (429, 5xx, no connection) is made again, as it may be because a
   * completion changes nothing there, until the waits between attempts reach two minutes or `signal` aborts. Rejects with the signal's reason (with
   * `chat-unavailable` where an attempt had failed before), `endpoint-down`, `chat-unavailable`, `unknown-model`, `unauthorized`, `chat-refused` or `bad-chat-reply`.
   */
  post(body: string, signal: AbortSignal, random: () => number): Promise<unknown>
}

type Attempt =
  | { readonly type: 'answered'; readonly value: unknown }
  | { readonly type: 'refused'; readonly error: TroupeError }
  | { readonly type: 'later'; readonly words: string; readonly retryAfterMs: number | undefined }

const WORDS_CHARACTERS = 300

export function makeChatClient(
  settings: Pick<ChatSettings, 'model' | 'url' | 'apiKeyVariable' | 'connections'>,
  key: string | undefined,
  ports: { readonly clock: Clock; readonly origins: Origins },
): ChatClient {
  const { url, model } = settings
  const { origin, pathname } = new URL(url)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }

  async function attempt({ pool, breaker }: Origin, body: string, signal: AbortSignal): Promise<Attempt> {
    const isProbe = breaker.enter()
    let status: number
    let text: string
    let retryAfter: string | string[] | undefined
    try {
      const response = await pool.request({ path: pathname, method: 'POST', headers, body, signal })
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
    const words = `HTTP ${status}: ${said}`
    if (status >= 500) breaker.failed(words)
    if (!isWorthRetrying(status)) return { type: 'refused', error: refusal(status, said) }
    return { type: 'later', words, retryAfterMs: toRetryAfterMs(retryAfter, ports.clock.wallTime()) }
  }

  function parseJson(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw badChatReply(url, `no JSON: ${hideKey(text, key).slice(0, 80)}`)
    }
  }

  function refusal(status: number, words: string): TroupeError {
    if (status === 404) return unknownModel(model, url, words)
    if (status === 401 || status === 403) return unauthorized(url, settings.apiKeyVariable, status, words)
    return chatRefused(url, status, words)
  }

  return {
    async post(body, signal, random) {
      const place = ports.origins.get(origin, settings.connections)
      let waitedMs = 0
      let lastWords: string | undefined
      try {
        for (let attempts = 1; ; attempts += 1) {
          signal.throwIfAborted()
          const outcome = await attempt(place, body, signal)
          if (outcome.type === 'answered') return outcome.value
          if (outcome.type === 'refused') throw outcome.error
          const { words, retryAfterMs } = outcome
          lastWords = words
          if (retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_AFTER_MS)
            throw retryTooLate(url, retryAfterMs, LONGEST_RETRY_AFTER_MS, words)
          const delayMs = retryDelay(attempts, retryAfterMs, random)
          waitedMs += delayMs
          if (waitedMs > ALL_WAITS_MS) throw chatUnavailable(url, attempts, words)
          await sleep(ports.clock, delayMs, signal)
        }
      } catch (error) {
        // Cut while it was being turned away: that there was no time left is the server's doing.
        const isCut = lastWords !== undefined && signal.aborted && error === signal.reason
        throw isCut ? chatCutOff(url, `the last attempt: ${lastWords}`, error) : error
      }
    },
  }
}

/** Several addresses that all refused make an error without a message. */
function messageOf(error: unknown): string {
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
