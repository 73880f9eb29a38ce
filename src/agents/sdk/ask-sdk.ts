import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { TroupeError } from '../../errors.ts'
import { hideKey, toRetryAfterMs } from '../../models/request-names.ts'
import { type Attempt, askUntilAnswered, readRefusal } from '../chat/ask.ts'
import { badChatReply } from '../chat/errors.ts'
import type { Origins } from '../chat/origins.ts'
import type { SdkSettings } from './settings.ts'

/** Reads a reply to its end. `heard` is called with each event of it. Undefined: the stream ended before the reply did. */
export type ReadStream<Reply> = (signal: AbortSignal, heard: () => void) => Promise<Reply | undefined>

export interface SdkPorts {
  readonly clock: Clock
  readonly origins: Origins
  /** The key that must not stand in an error. */
  readonly key: string | undefined
}

/**
 * Asks by a provider's SDK with the same patience, and the same names for what goes wrong, as the chat agent has: its own retries are off. A reply
 * that stops in its middle is asked for again; nothing of it has been acted on.
 */
export function askSdk<Reply>(
  settings: Pick<SdkSettings, 'url' | 'model' | 'apiKeyVariable' | 'stallMs'>,
  ports: SdkPorts & { readonly signal: AbortSignal; readonly random: () => number },
  read: ReadStream<Reply>,
): Promise<Reply> {
  const { clock, origins, signal, key } = ports
  const breaker = origins.health(new URL(settings.url).origin)

  async function attempt(): Promise<Attempt<Reply>> {
    const isProbe = breaker.enter()
    const watch = watchSilence(clock, settings.stallMs, signal)
    try {
      const reply = await read(watch.signal, watch.heard)
      if (reply === undefined) throw watch.signal.aborted ? watch.signal.reason : CUT_SHORT
      breaker.alive()
      // The connection is taken back a turn of the event loop after its reply; a next request that came sooner would open another.
      await setImmediate()
      return { type: 'answered', value: reply }
    } catch (error) {
      if (signal.aborted) {
        breaker.calledOff(isProbe)
        throw signal.reason
      }
      if (watch.signal.aborted) return lost(watch.signal.reason)
      return explain(error)
    } finally {
      watch.close()
    }
  }

  function explain(error: unknown): Attempt<never> {
    // What the way there could not carry whole; a line that is no JSON came through whole, and the server meant it.
    if (error instanceof SyntaxError) throw badChatReply(settings.url, `no JSON: ${say(error).slice(0, 80)}`)
    if (error instanceof TroupeError && error !== CUT_SHORT) throw error
    const status = readStatus(error)
    if (status === undefined) return lost(error)
    if (status < 500) breaker.alive()
    else breaker.failed(say(error))
    return readRefusal(settings, status, say(error), toRetryAfterMs(readRetryAfter(error), clock.wallTime()))
  }

  function lost(error: unknown): Attempt<never> {
    const words = say(error)
    breaker.failed(words)
    return { type: 'later', words, retryAfterMs: undefined }
  }

  function say(error: unknown): string {
    const own = error instanceof Error ? error.message : String(error)
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
    return hideKey(`${own}${cause}`, key).slice(0, WORDS_CHARACTERS)
  }

  return askUntilAnswered(settings.url, attempt, ports)
}

const WORDS_CHARACTERS = 300
const CUT_SHORT = new TroupeError({ tag: 'reply-cut', message: 'the reply stopped before its end' })

interface SilenceWatch {
  /** Aborts with the outer signal, or with `reply-stalled` after so long without a word. */
  readonly signal: AbortSignal
  heard(): void
  close(): void
}

function watchSilence(clock: Clock, stallMs: number, outer: AbortSignal): SilenceWatch {
  const controller = new AbortController()
  const stalled = () =>
    controller.abort(
      new TroupeError({ tag: 'reply-stalled', message: `the reply stalled: not a word for ${stallMs} ms` }),
    )
  let cancel = clock.after(stallMs, stalled)
  const cut = () => controller.abort(outer.reason)
  if (outer.aborted) cut()
  else outer.addEventListener('abort', cut, { once: true })
  return {
    signal: controller.signal,
    heard() {
      cancel()
      cancel = clock.after(stallMs, stalled)
    },
    close() {
      cancel()
      outer.removeEventListener('abort', cut)
    },
  }
}

/** Both SDKs have the HTTP status on their errors, and none on those of the way there. */
function readStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined
  return typeof error.status === 'number' ? error.status : undefined
}

function readRetryAfter(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('headers' in error)) return undefined
  const { headers } = error
  return headers instanceof Headers ? (headers.get('retry-after') ?? undefined) : undefined
}
