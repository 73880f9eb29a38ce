import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import ssh2, { type Connection } from 'ssh2'
import { type Clock, systemClock } from '../clock.ts'
import { generateSshKeyPair, toHostKey } from '../environment/workspace/ssh-keys.ts'
import type { Access } from './access.ts'
import { connectTo, join } from './ports.ts'
import type { SandboxRecord } from './sandbox.ts'
import type { Sandboxes } from './sandboxes.ts'

export interface GatewayOptions {
  readonly access: Access
  readonly sandboxes: Sandboxes
  readonly port?: number
  readonly clock?: Clock
}

const LOGIN_MS = 20_000

/** The SSH gateway: the user's name is the token, and what it opens are connections to ports of that token's sandbox. */
export async function startGateway({ access, sandboxes, port = 0, clock = systemClock }: GatewayOptions) {
  const host = generateSshKeyPair('troupe-emulator')
  const server = new ssh2.Server({
    hostKeys: [toHostKey(host, ssh2)],
    ident: 'troupe-emulator',
    keepaliveInterval: 0,
  })
  const listener = createServer({ noDelay: true }, socket => server.injectSocket(socket))
  const sockets = new Set<Socket>()
  listener.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  server.on('connection', (connection: Connection) => {
    let record: SandboxRecord | undefined
    const cancelLogin = clock.after(LOGIN_MS, () => connection.end())
    const end = { destroy: () => connection.end() }
    connection.on('error', () => {}) // a handshake or a connection that broke: `close` follows
    connection.on('authentication', context => {
      const granted = access.find(context.username)
      record = granted === undefined ? undefined : sandboxes.records.get(granted.sandboxId)
      if (record === undefined) context.reject(['none'])
      else context.accept()
    })
    connection.on('ready', () => {
      cancelLogin()
      if (record?.state === 'started') record.connections.add(end)
      else connection.end()
    })
    connection.on('tcpip', (accept, reject, { destPort }) => {
      const current = record
      if (current === undefined || current.ports.get(destPort)?.served === undefined) return reject()
      const channel = accept()
      const socket = connectTo(current, destPort, channel)
      if (socket === undefined) channel.close()
      else join(channel, socket)
    })
    connection.on('session', (_accept, reject) => reject()) // forwarding only
    connection.on('close', () => {
      cancelLogin()
      record?.connections.delete(end)
    })
  })

  listener.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: portOf(listener),
    hostKey: host.publicLine,
    async close(): Promise<void> {
      const closed = once(listener, 'close')
      listener.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Of a server that listens on TCP. */
export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
