import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { splice } from '../../wire/splice.ts'

/** A port of this machine's loopback that leads to one capability. */
export interface Forward {
  readonly port: number
  /** Cuts what is open. */
  close(): Promise<void>
}

/** HTTP clients want an address: every connection to it becomes a tunnel of its own. Close it. */
export async function openForward(open: () => Promise<Duplex>): Promise<Forward> {
  const streams = new Set<Duplex>()
  const hold = (stream: Duplex) => {
    streams.add(stream)
    stream.once('close', () => streams.delete(stream))
  }
  const join = async (socket: Socket) => {
    hold(socket)
    socket.setNoDelay(true)
    socket.on('error', endsTheStream)
    try {
      const tunnel = await open()
      hold(tunnel)
      if (socket.destroyed) tunnel.on('error', endsTheStream).destroy()
      else splice(socket, tunnel)
    } catch {
      // The client learns it from the connection's end, and says so with the request that it was for.
      socket.destroy()
    }
  }
  const server = createServer({ allowHalfOpen: true }, socket => void join(socket))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server on a port has one')
  return {
    port: address.port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const stream of streams) stream.destroy()
      }),
  }
}

/** `close` follows, and takes the other side with it. */
function endsTheStream(): void {}
