import { connect, createServer, type Socket } from 'node:net'

/**
 * What becomes of one connection once the server has sent so many bytes over it. `half-open`: both ends stay and hear nothing any more.
 * `half-closed`: the client is told that nothing more comes. `garbage`: bytes that are no frame. `stranger`: a well-formed answer to a
 * question that nobody asked. `endless`: a frame that never ends. `drip`: from there on each byte comes alone, and all of them do.
 */
export const CHANNEL_FAULTS = ['cut', 'half-open', 'half-closed', 'garbage', 'stranger', 'endless', 'drip'] as const
export type ChannelFault = (typeof CHANNEL_FAULTS)[number]

/** Which connection, counted from 1, and after how many bytes of the server's. */
export interface ChannelMoment {
  readonly connection: number
  readonly afterBytes: number
  readonly fault: ChannelFault
}

export interface FaultyProxy {
  /** `tcp://host:port`. */
  readonly url: string
  /** Moments that have come. */
  readonly struck: number
  /** The most bytes of an endless frame that a client took before it cut the connection. */
  readonly mostTaken: number
  close(): Promise<void>
}

const CHUNK = Buffer.alloc(64 * 1024, 'x')

/** Stands between the engine and a served environment, and lets all pass but what the schedule says. */
export async function startFaultyProxy(port: number, schedule: readonly ChannelMoment[]): Promise<FaultyProxy> {
  const sockets = new Set<Socket>()
  let connections = 0
  let struck = 0
  let mostTaken = 0

  const server = createServer({ allowHalfOpen: true, noDelay: true }, near => {
    connections += 1
    const moment = schedule.find(({ connection }) => connection === connections)
    const far = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
    const cut = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', cut)
      socket.once('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
    near.pipe(far)
    let dripped: Promise<void> | undefined
    let left = moment?.afterBytes ?? Number.POSITIVE_INFINITY
    far.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, left)
      left -= passed.length
      near.write(passed)
      if (left > 0 || moment === undefined) return
      struck += 1
      far.removeAllListeners('data').pause()
      if (moment.fault === 'drip') dripped = drip(far, near, chunk.subarray(passed.length))
      else strike(moment.fault)
    })
    far.once('end', async () => {
      await dripped
      near.end()
    })

    function strike(fault: Exclude<ChannelFault, 'drip'>): void {
      switch (fault) {
        case 'cut':
          cut()
          return
        case 'half-open':
          near.unpipe(far)
          near.resume()
          return
        case 'half-closed':
          near.end()
          return
        case 'garbage':
          near.write(Buffer.from([0xff, 0x00, 0x9f, 0x0a, 0x7b, 0x0a]))
          return
        case 'stranger':
          near.write('{"jsonrpc":"2.0","id":987654,"result":{}}\n')
          return
        case 'endless':
          pour(near)
      }
    }
  })

  function pour(near: Socket): void {
    const more = () => {
      while (!near.destroyed && near.write(CHUNK));
      mostTaken = Math.max(mostTaken, near.bytesWritten)
    }
    near.write('{"jsonrpc":"2.0","id":1,"result":{"pad":"')
    near.on('drain', more)
    near.once('close', () => {
      mostTaken = Math.max(mostTaken, near.bytesWritten)
    })
    more()
  }

  async function drip(far: Socket, near: Socket, first: Buffer): Promise<void> {
    let waiting: Buffer[] = [first]
    let isOver = false
    far.on('data', (chunk: Buffer) => waiting.push(chunk))
    const finish = () => {
      isOver = true
    }
    far.once('end', finish).once('close', finish)
    far.resume()
    while (!isOver || waiting.length > 0) {
      const [chunk] = waiting
      waiting = waiting.slice(1)
      for (const byte of chunk ?? []) {
        if (near.destroyed) return
        near.write(Buffer.of(byte))
        await turn()
      }
      await turn()
    }
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (typeof bound !== 'object' || bound === null) throw new Error('no port')
  return {
    url: `tcp://127.0.0.1:${bound.port}`,
    get struck() {
      return struck
    },
    get mostTaken() {
      return mostTaken
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const turn = () => new Promise(resolve => setImmediate(resolve))
