import type { Duplex } from 'node:stream'

/**
 * Joins two byte streams until both directions have ended. Back-pressure and half-closing pass through; a stream that breaks takes the
 * other with it, since a reset carries no end and the far side would wait for ever.
 */
export function splice(one: Duplex, other: Duplex): void {
  one.pipe(other)
  other.pipe(one)
  tie(one, other)
  tie(other, one)
}

function tie(stream: Duplex, far: Duplex): void {
  stream.on('error', () => far.destroy())
  stream.once('close', () => {
    if (far.destroyed) return
    if (!stream.readableEnded) far.destroy()
    else if (far.writableFinished) far.destroy()
    // It ended in order and `pipe` has passed that on: what it said last still has to arrive.
    else far.once('finish', () => far.destroy())
  })
}
