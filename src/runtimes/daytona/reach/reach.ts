import { setMaxListeners } from 'node:events'
import type { Clock } from '../../../clock.ts'
import { makeControlClient } from '../../../wire/client.ts'
import type { Account } from '../account/account.ts'
import type { Transport } from '../options.ts'
import { reachClosed } from './errors.ts'
import { makeOpening, type OpeningPorts } from './opening.ts'
import { makePreference } from './preference.ts'
import type { OpenRequest, Reached } from './request.ts'
import { makeSocketDirectory } from './socket-directory.ts'

export interface ReachOptions {
  /** Where the server listens in the sandbox. */
  readonly port: number
  readonly transport: Transport | 'auto'
  readonly clock: Clock
}

/** Starts environments' servers in sandboxes, and finds a way to them that has been walked once. */
export interface Reach {
  /**
   * Rejects with `environment-not-serving` as soon as the server's command has ended, with `environment-not-reachable` at the deadline, with what the provider
   * refuses, or with the signal's reason. Nothing of it is left then.
   */
  open(request: OpenRequest): Promise<Reached>
  /** Closes what is open, ends what is under way, and removes the sockets' directory. Twice is once. */
  close(): Promise<void>
}

export function makeReach(account: Pick<Account, 'sandboxes' | 'processes'>, options: ReachOptions): Reach {
  const { clock, port, transport } = options
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one for each sandbox
  const directory = makeSocketDirectory(clock)
  const client = makeControlClient({ multiplex: 'never', clock })
  const held = new Set<() => Promise<void>>()
  const leaving = new Set<Promise<unknown>>()
  const ports: OpeningPorts = {
    account,
    client,
    clock,
    directory,
    port,
    preference: makePreference(transport),
    closing: closing.signal,
    later(work) {
      const watched = work.catch(() => {}).finally(() => leaving.delete(watched)) // nobody waits for its outcome
      leaving.add(watched)
    },
  }
  const open = makeOpening(ports)

  async function end(): Promise<void> {
    closing.abort(reachClosed())
    // Whatever was being opened is held by now, or has cleaned up after itself.
    await Promise.all(leaving)
    await Promise.all([...held].map(close => close()))
    await client.close()
    while (leaving.size > 0) await Promise.all(leaving)
    await directory.close()
  }
  let ended: Promise<void> | undefined

  return {
    async open(request) {
      closing.signal.throwIfAborted()
      const opening = open(request)
      ports.later(opening)
      const reached = await opening
      let closed: Promise<void> | undefined
      const hold = () => close({ sandboxEnds: true })
      const close: Reached['close'] = how => {
        held.delete(hold)
        closed ??= reached.close(how)
        return closed
      }
      held.add(hold)
      return { ...reached, close }
    },
    close: () => (ended ??= end()),
  }
}
