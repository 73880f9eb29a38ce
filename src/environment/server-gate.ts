import { createHash, timingSafeEqual } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'

/** The longest frame read from a peer that has not shown the token. */
export const STRANGER_FRAME_BYTES = 64 * 1024
/** How long a connection may take to show it. */
export const STRANGER_MS = 10_000
export const MAX_STRANGERS = 1_024

export interface GateOptions {
  readonly token: string
  readonly clock: Clock
  /** Connections at once that have not shown the token. */
  readonly maxStrangers: number
}

/** Keeps the connections of a server that wants a token, until they have shown it. */
export interface Gate {
  /**
   * Takes in a connection, for 10 s at most. Where there are too many, the one that has waited longest makes room: peers with the token show it at once,
   * so that a crowd which says nothing keeps none of them out.
   */
  watch(socket: Duplex): void
  /** True for the token, and the connection is watched no more. Takes as long for any other. */
  opens(socket: Duplex, token: string | undefined): boolean
}

export function makeGate({ token, clock, maxStrangers }: GateOptions): Gate {
  const wanted = digest(token)
  const strangers = new Map<Duplex, () => void>()
  const forget = (socket: Duplex) => {
    strangers.get(socket)?.()
    strangers.delete(socket)
  }
  return {
    watch(socket) {
      const [longest] = strangers.keys()
      if (longest !== undefined && strangers.size >= maxStrangers) {
        forget(longest)
        longest.destroy()
      }
      const cancel = clock.after(STRANGER_MS, () => socket.destroy())
      strangers.set(socket, cancel)
      socket.once('close', () => forget(socket))
    },
    opens(socket, given) {
      const same = timingSafeEqual(digest(given ?? ''), wanted)
      if (!same || given === undefined) return false
      forget(socket)
      return true
    },
  }
}

/** Of one length, whatever it is of. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
