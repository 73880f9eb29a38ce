import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Address, ListenAddress } from './address.ts'
import { dialFailed } from './errors.ts'
import { MAX_FRAME_BYTES } from './frame.ts'
import type { Limit } from './limit.ts'

/**
 * A connected stream, without Nagle's delay, that nobody reads yet. `maxFrameBytes` is the longest frame that will be read from it. Rejects with
 * `dial-failed`, with the limit's reason or, at a WebSocket, with `token-refused` or `bad-websocket-address`.
 */
export async function dial(address: Address, limit: Limit, maxFrameBytes: number = MAX_FRAME_BYTES): Promise<Duplex> {
  if (address.kind !== 'websocket') return dialSocket(address, limit)
  const { dialWebSocket } = await import('./dial-websocket.ts')
  return dialWebSocket(address, limit, maxFrameBytes)
}

function dialSocket(address: ListenAddress, limit: Limit): Promise<Duplex> {
  const socket =
    address.kind === 'tcp'
      ? connect({ host: address.host, port: address.port, noDelay: true, allowHalfOpen: true })
      : connect({ path: address.path, allowHalfOpen: true })
  const connected = new Promise<Duplex>((resolve, reject) => {
    const fail = (error: Error) => reject(dialFailed(address, error))
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      resolve(socket)
    })
  })
  return limit.race(connected, () => {
    socket.on('error', ignoreAfterCut)
    socket.destroy()
  })
}

/** Nobody waits for this socket any more. */
function ignoreAfterCut(): void {}
