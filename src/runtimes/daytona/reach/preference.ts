import type { Transport } from '../options.ts'
import type { Field } from './race.ts'

/** Which way to try first, as learned from the sandboxes so far. */
export interface Preference {
  field(deadlineMs: number): Field
  /** This one got there first. */
  won(transport: Transport): void
}

/** WebSocket first: where both answer at once, it is the one that holds nothing here. */
const BOTH: readonly Transport[] = ['websocket', 'ssh']

/**
 * With `auto` every sandbox races until one has been reached: a first burst is decided by its own first sandbox, and waiting for that would only cost time.
 * From then on the winner is tried alone, for half of the time there is.
 */
export function makePreference(asked: Transport | 'auto'): Preference {
  let winner = asked === 'auto' ? undefined : asked
  return {
    field(deadlineMs) {
      const first = winner
      if (first === undefined) return { transports: BOTH, headStartMs: 0 }
      const others = asked === 'auto' ? BOTH.filter(each => each !== first) : []
      return { transports: [first, ...others], headStartMs: deadlineMs / 2 }
    },
    won(transport) {
      if (asked === 'auto') winner = transport
    },
  }
}
