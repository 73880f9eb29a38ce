import { type Clock, systemClock } from '../clock.ts'
import { hasTag } from '../errors.ts'
import { type Address, formatAddress } from '../wire/address.ts'
import type { TroupeControlClient } from '../wire/client.ts'
import { sessionNotEnded } from './errors.ts'

/** Until a prewarmed sandbox has answered `hello`. */
const HELLO_DEADLINE_MS = 60_000
const END_DEADLINE_MS = 5_000

/**
 * Says `hello` ahead of the rollout. A peer of ours parks the session, which is returned to be resumed; any other only shows that it answers, since
 * it may forget a session without a task.
 */
export async function openParked(
  client: TroupeControlClient,
  address: Address,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<string | undefined> {
  const session = await client.connect(address, { clock, deadlineMs: HELLO_DEADLINE_MS, signal })
  try {
    await session.park()
    return session.sessionId
  } catch (error) {
    await session.end()
    if (hasTag(error, 'park-unsupported')) return undefined
    throw error
  }
}

/** Ends a session that its rollout did not end. Rejects with `session-not-ended` when the peer does not confirm. */
export async function endParked(
  client: TroupeControlClient,
  address: Address,
  sessionId: string | undefined,
): Promise<void> {
  if (sessionId === undefined) return
  if (!(await client.endSession(address, sessionId, END_DEADLINE_MS)))
    throw sessionNotEnded(sessionId, formatAddress(address))
}
