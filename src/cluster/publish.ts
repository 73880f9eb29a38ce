import type { JetStreamClient } from '@nats-io/jetstream'
import { type Clock, sleep } from '../clock.ts'

const ANSWER_MS = 5_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000

export interface Publisher {
  readonly client: JetStreamClient
  readonly clock: Clock
  /** Ends the trying. */
  readonly signal: AbortSignal
  /** Told of the first failure of each message. */
  readonly onTrouble: (error: unknown) => void
}

/**
 * Resolves when the stream has the message. A server that does not answer, or a stream that is full, is tried again until the signal ends it: the message's id keeps it from
 * being there twice. Rejects with the signal's reason.
 */
export async function publishSurely(
  publisher: Publisher,
  subject: string,
  payload: Uint8Array,
  id: string,
): Promise<void> {
  await surely(publisher, () => publisher.client.publish(subject, payload, { msgID: id, timeout: ANSWER_MS }))
}

/** The same for anything that may be done twice. */
export async function surely<Value>(
  { clock, signal, onTrouble }: Publisher,
  work: () => Promise<Value>,
): Promise<Value> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (attempt === 0) onTrouble(error)
      await sleep(clock, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), signal)
    }
  }
}
