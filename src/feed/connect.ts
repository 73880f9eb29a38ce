import { get, type IncomingMessage, type RequestOptions } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import { feedForeign, feedRefused, feedSilent, feedUnreachable } from './errors.ts'
import type { FeedMessage } from './messages.ts'
import { makeEventParser, parseFeedMessage } from './parse.ts'
import { HEARTBEAT_MS } from './streams.ts'

/** A dashboard's address, `http://127.0.0.1:4310` or the one with a token that it printed, or the path of an engine's socket. */
export type FeedTarget = URL | string

/** To be connected and answered. */
const CONNECT_MS = 5_000
/** Two signs of life may be late. */
const SILENT_MS = 3 * HEARTBEAT_MS
const LONGEST_REFUSAL = 4_096

/**
 * One connection to a feed, until the other side ends it: first a state, then ticks. Whoever reads slowly is sent a state in the place of ticks. Throws `feed-unreachable`,
 * `feed-refused`, `feed-foreign` and `feed-silent`; after `signal` it ends without an error.
 */
export async function* connectFeed(target: FeedTarget, clock: Clock, signal: AbortSignal): AsyncGenerator<FeedMessage> {
  const called = typeof target === 'string' ? target : target.origin
  let response: IncomingMessage
  try {
    response = await open(target, clock, signal)
  } catch (error) {
    if (signal.aborted) return
    throw feedUnreachable(called, error)
  }
  const cut = () => response.destroy()
  signal.addEventListener('abort', cut, { once: true })
  let cancelSilence = () => {}
  let isSilent = false
  const hear = () => {
    cancelSilence()
    cancelSilence = clock.after(SILENT_MS, () => {
      isSilent = true
      response.destroy()
    })
  }
  try {
    hear()
    if (response.statusCode !== 200) throw feedRefused(called, response.statusCode ?? 0, await readRefusal(response))
    if (!String(response.headers['content-type']).startsWith('text/event-stream'))
      throw feedForeign(called, 'it sends no events')
    const decoder = new StringDecoder('utf8')
    const parser = makeEventParser()
    for await (const bytes of response) {
      hear()
      for (const data of parser.push(decoder.write(bytes))) {
        const message = parseFeedMessage(data)
        if (message === undefined) throw feedForeign(called, 'it sent what cannot be read')
        yield message
      }
    }
  } catch (error) {
    if (signal.aborted) return
    if (isSilent) throw feedSilent(called, SILENT_MS)
    if (error instanceof TroupeError) throw error
    throw error instanceof RangeError ? feedForeign(called, error.message) : feedUnreachable(called, error)
  } finally {
    cancelSilence()
    signal.removeEventListener('abort', cut)
    response.destroy()
  }
}

function open(target: FeedTarget, clock: Clock, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A connection of its own: the feed holds it for as long as somebody watches.
    const asked = get({ ...toRequest(target), agent: false, signal }, response => {
      cancel()
      resolve(response)
    })
    const cancel = clock.after(CONNECT_MS, () => asked.destroy(new Error(`no answer within ${CONNECT_MS / 1_000} s`)))
    asked.on('error', error => {
      cancel()
      reject(error)
    })
  })
}

/** The address that a dashboard prints has its token in its path. */
function toRequest(target: FeedTarget): RequestOptions {
  if (typeof target === 'string') return { socketPath: target, path: '/feed' }
  const [, token] = /^\/enter\/([^/]+)$/.exec(target.pathname) ?? []
  return {
    host: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port === '' ? 80 : Number(target.port),
    path: `/feed${target.search}`,
    headers: {
      Host: target.host,
      ...(token === undefined ? {} : { Authorization: `Bearer ${decodeURIComponent(token)}` }),
    },
  }
}

async function readRefusal(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const bytes of response) {
    text += String(bytes)
    if (text.length > LONGEST_REFUSAL) break
  }
  const [, message] = /"message":("(?:[^"\\]|\\.)*")/.exec(text) ?? []
  if (message === undefined) return text.slice(0, 200) || 'it gave no reason'
  const found: unknown = JSON.parse(message)
  return String(found)
}
