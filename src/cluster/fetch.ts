import { type Consumer, type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'

/** What the server waits with a request before it is made again. */
const EXPIRES_MS = 2_000
/** A server that is silent for longer is not waited for: a cluster may have lost the one that was asked. */
const SILENT_MS = 2 * EXPIRES_MS
const TRY_AGAIN_MS = 500

export interface FetchPorts {
  readonly connection: NatsConnection
  readonly stream: string
  readonly consumer: string
  readonly clock: Clock
  readonly onMessage: (message: JsMsg) => void
  readonly onError: (error: unknown) => void
}

/** Requests for a consumer's messages, one after the other. */
export interface Fetcher {
  /** Asks for so many, and resolves with how many came when all came or the request has expired. Never rejects: after a failure there is a pause. */
  fetch(count: number): Promise<number>
  /** Ends the request that is under way: nothing of it comes any more. */
  stop(): Promise<void>
}

export function makeFetcher({ connection, stream, consumer, clock, onMessage, onError }: FetchPorts): Fetcher {
  let known: Consumer | undefined
  let under: ConsumerMessages | undefined
  let stopped = 0
  return {
    async fetch(count) {
      const before = stopped
      let taken = 0
      let cancel = () => {}
      try {
        known ??= await jetstream(connection).consumers.get(stream, consumer)
        const messages = await known.fetch({ max_messages: count, expires: EXPIRES_MS })
        under = messages
        if (stopped > before) await messages.close()
        cancel = clock.after(SILENT_MS, () => void messages.close())
        for await (const message of messages) {
          taken += 1
          onMessage(message)
        }
      } catch (error) {
        known = undefined
        onError(error)
        await sleep(clock, TRY_AGAIN_MS)
      } finally {
        cancel()
        under = undefined
      }
      return taken
    },
    async stop() {
      stopped += 1
      await under?.close()
    },
  }
}
