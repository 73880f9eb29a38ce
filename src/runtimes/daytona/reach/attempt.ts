import { settleWithin, untilAborted } from '../../../bounded.ts'
import type { Clock } from '../../../clock.ts'
import { hasTag } from '../../../errors.ts'
import type { Address } from '../../../wire/address.ts'
import type { TroupeControlClient } from '../../../wire/client.ts'
import type { ControlSession } from '../../../wire/session.ts'
import { ANNOUNCED_MEANWHILE } from './errors.ts'
import type { Route } from './route.ts'

/** An environment that has answered `hello`. */
export interface Answered {
  readonly address: Address
  /** Of the parked session. */
  readonly sessionId: string | undefined
  /** Settles when the session that was only to see whether it answers has ended. */
  readonly left: Promise<unknown>
}

export interface AttemptPorts {
  readonly client: TroupeControlClient
  readonly clock: Clock
  readonly prewarm: boolean
  /** Until the deadline. */
  readonly leftMs: () => number
  /** Resolves when the server has been started: its `announced` when it says that it serves (true), or when what it says cannot be followed (false). */
  readonly server: Promise<{ readonly announced: Promise<boolean> }>
  /** How long to wait for that before trying all the same. */
  readonly graceMs: number
  readonly signal: AbortSignal
}

const END_MS = 2_000

/**
 * Says `hello` over the route until it is answered, beginning when the server says that it serves: each try before is a connection that the gateway makes in
 * vain, and the pauses between them are time lost. Rejects with `connect-timeout`, with what the route rejects with, or with the signal's reason.
 */
export async function attempt(route: Route, ports: AttemptPorts): Promise<Answered> {
  const { client, prewarm, signal } = ports
  const [address, { announced }] = await Promise.all([route.address, ports.server])
  const session = await connect(address, announced, ports)
  // The rollout says its own `hello`, so this one's goodbye is not waited for.
  if (!prewarm) return { address, sessionId: undefined, left: session.end() }
  try {
    await session.park()
  } catch (error) {
    // A peer that is not ours may forget a session without a task.
    if (hasTag(error, 'park-unsupported')) return { address, sessionId: undefined, left: session.end() }
    session.abort()
    throw error
  }
  // Whoever gave up meanwhile is not going to resume it.
  if (signal.aborted) await client.endSession(address, session.sessionId, END_MS)
  signal.throwIfAborted()
  return { address, sessionId: session.sessionId, left: Promise.resolve() }
}

async function connect(address: Address, announced: Promise<boolean>, ports: AttemptPorts): Promise<ControlSession> {
  const { client, clock, graceMs, leftMs, prewarm, signal } = ports
  const dial = (until: AbortSignal) =>
    client.connect(address, { clock, deadlineMs: leftMs(), signal: until, ephemeral: !prewarm })
  const told = new AbortController()
  announced.then(itself => itself && told.abort(ANNOUNCED_MEANWHILE))
  await settleWithin(clock, Math.min(graceMs, leftMs()), untilAborted(announced, signal))
  signal.throwIfAborted()
  if (!told.signal.aborted) {
    try {
      return await dial(AbortSignal.any([signal, told.signal]))
    } catch (error) {
      // Begun anew, rather than sleep through the moment that it was waiting for.
      if (error !== ANNOUNCED_MEANWHILE) throw error
    }
  }
  return await dial(signal)
}
