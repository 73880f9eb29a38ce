import { Duplex } from 'node:stream'

/**
 * Two connected streams in one process. Unlike Node's `duplexPair`, bytes arrive after the write has returned: ssh2 changes
 * its state after it writes, and an answer that comes in the middle of that breaks its handshake. Cutting one end cuts the
 * other, as with a socket; ending one lets the other read to the end.
 */
export function makeStreamPair(): readonly [Duplex, Duplex] {
  const left = makeSide(() => right)
  const right = makeSide(() => left)
  return [left, right]
}

interface Side extends Duplex {
  /** Called when the reader wants more. */
  wanted?: (() => void) | undefined
}

function makeSide(other: () => Side): Side {
  const side: Side = new Duplex({
    read() {
      const { wanted } = side
      side.wanted = undefined
      wanted?.()
    },
    write(chunk: Buffer, _encoding, callback) {
      queueMicrotask(() => {
        const peer = other()
        if (peer.destroyed || peer.push(chunk)) callback()
        else peer.wanted = callback
      })
    },
    final(callback) {
      queueMicrotask(() => {
        const peer = other()
        if (!peer.destroyed) peer.push(null)
        callback()
      })
    },
    destroy(error, callback) {
      const peer = other()
      const cut = error !== null || !side.readableEnded || !side.writableFinished
      // After a graceful end the peer may still hold bytes that it has not read: those it keeps.
      if (cut) queueMicrotask(() => peer.destroy())
      side.wanted?.()
      callback(error)
    },
  })
  return side
}
