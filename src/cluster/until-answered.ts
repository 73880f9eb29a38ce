import { JetStreamApiError } from '@nats-io/jetstream'
import { errors, type NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { jetStreamSilent } from './connect-errors.ts'

/** By then a cluster that has lost a server has put in its place what that one had. */
const LIMIT_MS = 45_000
const AGAIN_MS = 250
const UNAVAILABLE = 503

/**
 * Does what may be done twice, and tries again while JetStream does not answer: servers of a cluster that has just lost one answer late or not at all until they have
 * chosen leaders anew, each of several things for itself. Rejects with `jetstream-silent` when that takes too long, and at once with anything else.
 */
export async function untilAnswered<Value>(
  connection: NatsConnection,
  clock: Clock,
  work: () => Promise<Value>,
): Promise<Value> {
  const startedAt = clock.now()
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isSilence(error)) throw error
      const waitedMs = clock.now() - startedAt
      if (waitedMs >= LIMIT_MS) throw jetStreamSilent([connection.getServer()], waitedMs, error)
      await sleep(clock, AGAIN_MS)
    }
}

function isSilence(error: unknown): boolean {
  if (error instanceof errors.TimeoutError || error instanceof errors.RequestError) return true
  return error instanceof JetStreamApiError && error.status === UNAVAILABLE
}
