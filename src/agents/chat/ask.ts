import { type Clock, sleep } from '../../clock.ts'
import type { TroupeError } from '../../errors.ts'
import { chatCutOff, chatRefused, chatUnavailable, retryTooLate, unauthorized, unknownModel } from './errors.ts'
import { ALL_WAITS_MS, isWorthRetrying, LONGEST_RETRY_AFTER_MS, retryDelay } from './retry.ts'

/** What one request came to. `later`: the same request may succeed after a pause. */
export type Attempt<Value> =
  | { readonly type: 'answered'; readonly value: Value }
  | { readonly type: 'refused'; readonly error: TroupeError }
  | { readonly type: 'later'; readonly words: string; readonly retryAfterMs: number | undefined }

/** Whom a request goes to, as errors name it. */
export interface Asked {
  readonly url: string
  readonly model: string
  readonly apiKeyVariable: string | undefined
}

/**
 * Makes attempts until one is answered or refused, as it may because a completion changes nothing at its server, until the pauses
 * between them reach two minutes. Rejects with the signal's reason (with `chat-unavailable` where an attempt had failed before),
 * `chat-unavailable`, or what the refusal says.
 */
export async function askUntilAnswered<Value>(
  url: string,
  attempt: () => Promise<Attempt<Value>>,
  ports: { readonly clock: Clock; readonly signal: AbortSignal; readonly random: () => number },
): Promise<Value> {
  const { clock, signal, random } = ports
  let waitedMs = 0
  let lastWords: string | undefined
  try {
    for (let attempts = 1; ; attempts += 1) {
      signal.throwIfAborted()
      const outcome = await attempt()
      if (outcome.type === 'answered') return outcome.value
      if (outcome.type === 'refused') throw outcome.error
      const { words, retryAfterMs } = outcome
      lastWords = words
      if (retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_AFTER_MS)
        throw retryTooLate(url, retryAfterMs, LONGEST_RETRY_AFTER_MS, words)
      const delayMs = retryDelay(attempts, retryAfterMs, random)
      waitedMs += delayMs
      if (waitedMs > ALL_WAITS_MS) throw chatUnavailable(url, attempts, words)
      await sleep(clock, delayMs, signal)
    }
  } catch (error) {
    // Cut while it was being turned away: that there was no time left is the server's doing.
    const isCut = lastWords !== undefined && signal.aborted && error === signal.reason
    throw isCut ? chatCutOff(url, `the last attempt: ${lastWords}`, error) : error
  }
}

/** What an HTTP status that is no success means. `words` are the server's own. */
export function readRefusal(
  { url, model, apiKeyVariable }: Asked,
  status: number,
  words: string,
  retryAfterMs: number | undefined,
): Attempt<never> {
  if (isWorthRetrying(status)) return { type: 'later', words: `HTTP ${status}: ${words}`, retryAfterMs }
  if (status === 404) return { type: 'refused', error: unknownModel(model, url, words) }
  if (status === 401 || status === 403)
    return { type: 'refused', error: unauthorized(url, apiKeyVariable, status, words) }
  return { type: 'refused', error: chatRefused(url, status, words) }
}
