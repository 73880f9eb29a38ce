import { connect, type Socket } from 'node:net'
import type { Address } from './address.ts'
import { dialFailed } from './errors.ts'
import type { Limit } from './limit.ts'

/** A connected socket, without Nagle's delay, still paused. Rejects with `dial-failed`, or with the limit's reason. */
export function dial(address: Address, limit: Limit): Promise<Socket> {
  const socket =
    address.kind === 'tcp'
      ? connect({ host: address.host, port: address.port, noDelay: true, allowHalfOpen: true })
      : connect({ path: address.path, allowHalfOpen: true })
  const connected = new Promise<Socket>((resolve, reject) => {
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
