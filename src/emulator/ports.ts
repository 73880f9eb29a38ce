import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Context } from './context.ts'
import { refused } from './errors.ts'
import type { SandboxPort, SandboxRecord } from './sandbox.ts'
import type { ServeRequest } from './servers.ts'

/** Has the sandbox serve on a port: at once begun, answering only after the emulated boot. */
export function openPort(
  record: SandboxRecord,
  request: ServeRequest,
  {
    latency,
    timelines,
    servers,
    faults,
    background,
  }: Pick<Context, 'latency' | 'timelines' | 'servers' | 'faults' | 'background'>,
  operation: 'boot' | 'resume' = 'boot',
): SandboxPort {
  if (record.ports.has(request.port)) throw refused(400, `port ${request.port} is in use`)
  const factor = faults.strikes('slow-boot') ? 10 : 1
  const answering = Promise.all([servers.serve(request), latency.take(operation, factor)]).then(([served]) => served)
  const opened = timelines.time(record.id, operation, answering)
  const port: SandboxPort = { request, opened, served: undefined, sessionIds: new Set() }
  record.ports.set(request.port, port)
  const forget = () => {
    if (record.ports.get(request.port) === port) record.ports.delete(request.port)
  }
  const opening = opened.then(
    served => {
      port.served = served
      served.exited.then(forget)
    },
    error => {
      forget()
      throw error
    },
  )
  background(opening)
  return port
}

/** The near end of a connection: a stream, or an answer that is under way. */
interface Peer {
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
}

/** A connection to what the sandbox serves on `port`; undefined when nothing answers there. Ends with the sandbox. */
export function connectTo(record: SandboxRecord, port: number, peer: Peer): Socket | undefined {
  const open = record.ports.get(port)
  if (record.state !== 'started' || open?.served === undefined) return undefined
  const socket = open.served.connect()
  noteSession(socket, open.sessionIds)
  for (const end of [socket, peer]) {
    record.connections.add(end)
    end.once('close', () => record.connections.delete(end))
  }
  return socket
}

const SESSION = /"session_id":"([^"]{1,100})"/
const MAX_HELLO_BYTES = 64 * 1024

/** Reads along until the server has named the session of this connection. */
function noteSession(socket: Socket, sessionIds: Set<string>): void {
  let read = ''
  const look = (bytes: Buffer) => {
    read += bytes.toString('latin1')
    const [, id] = SESSION.exec(read) ?? []
    if (id !== undefined) sessionIds.add(id)
    if (id !== undefined || read.length > MAX_HELLO_BYTES) socket.off('data', look)
  }
  socket.on('data', look)
}

/** Both ways, until either side ends; what breaks on one side cuts the other. */
export function join(near: Duplex, far: Duplex): void {
  near.on('error', () => far.destroy()) // the other side learns of it by its own end
  far.on('error', () => near.destroy())
  near.on('close', () => far.destroy())
  far.on('close', () => near.destroy())
  near.pipe(far)
  far.pipe(near)
}

/** Nothing answers any more, at once; resolves when servers of the sandbox's own are gone too. */
export async function closePorts(record: SandboxRecord): Promise<void> {
  const ports = [...record.ports.values()]
  record.ports.clear()
  await Promise.all(
    ports.map(async ({ opened, sessionIds }) => {
      const served = await opened.catch(() => undefined) // never came up: nothing to release
      await served?.release(sessionIds)
    }),
  )
}
