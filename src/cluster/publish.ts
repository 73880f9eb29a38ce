import { setMaxListeners } from 'node:events'
import type { JetStreamClient } from '@nats-io/jetstream'
import { type Clock, sleep } from '../clock.ts'
import { type Gate, makeGate } from '../rollout/gate.ts'

const ANSWER_MS = 5_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000

export interface Publisher {
  readonly client: JetStreamClient
  readonly clock: Clock
  /** What goes to the streams goes through it: see `makePublisher`. */
  readonly gate: Gate
  /** Ends the trying. */
  readonly signal: AbortSignal
  /** Told of the first failure of each message. */
  readonly onTrouble: (error: unknown) => void
}

/**
 * Messages on their way at once. With more of them the last ones lie before the server for longer than an answer is waited for, and are sent again behind the rest;
 * and a stream that is full refuses all of them again and again, each with its bytes.
 */
export const MOST_IN_FLIGHT = 64

/** One for all that a process has to put into a job's streams. */
export function makePublisher(ports: Omit<Publisher, 'gate'>): Publisher {
  // Each of those that wait to try again listens.
  setMaxListeners(0, ports.signal)
  return { ...ports, gate: makeGate(MOST_IN_FLIGHT) }
}

/**
 * Resolves when the stream has the message, which waits its turn first, and is packed only then. A server that does not answer, or a stream that is full, is tried again
 * until the signal ends it: the message's id keeps it from being there twice. Rejects with the signal's reason, or with what `toPayload` threw.
 */
export async function publishSurely(
  publisher: Publisher,
  subject: string,
  toPayload: () => Uint8Array,
  id: string,
): Promise<void> {
  const { client, gate } = publisher
  // It keeps its place while it is refused: whoever is behind it would be refused, too.
  await gate.run(async () => {
    const payload = toPayload()
    await surely(publisher, () => client.publish(subject, payload, { msgID: id, timeout: ANSWER_MS }))
  })
}

/** The same for anything that may be done twice. */
export async function surely<Value>(
  { clock, signal, onTrouble }: Omit<Publisher, 'client' | 'gate'>,
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
