import type { Duplex } from 'node:stream'
import type { AuthContext, Connection, Server } from 'ssh2'
import type { Clock } from '../../clock.ts'
import type { WorkspaceSession } from './session.ts'
import { generateSshKeyPair, isSignedBy, type SshKeyPair, toHostKey } from './ssh-keys.ts'
import { serveSshChannel } from './ssh-session.ts'

export const SSH_USER = 'agent'
const MAX_CHANNELS = 32
const LOGIN_MS = 10_000

/** The `ssh/2` server of a host: one for all sessions, with the client's key deciding which one it is about. */
export interface WorkspaceSshServer {
  /** OpenSSH line. */
  readonly hostKey: string
  /** A fresh key that opens `session`, until it is closed. */
  issueKey(session: WorkspaceSession): SshKeyPair
  /** Serves a stream. There is no listening socket: streams come through the control channel alone. */
  serve(stream: Duplex): void
}

/** A key of ours, and what it opens. */
interface Issued {
  readonly session: WorkspaceSession
  readonly key: SshKeyPair
}

export function makeSshServer(clock: Clock): WorkspaceSshServer {
  const host = generateSshKeyPair('troupe')
  const sessions = new Map<string, Issued>()
  let opened: Promise<Server> | undefined

  /** With the first stream: few hosts are ever asked for ssh, and the module costs as much as the rest of a host's start. */
  async function open(): Promise<Server> {
    const { default: ssh2 } = await import('ssh2')
    const server = new ssh2.Server({ hostKeys: [toHostKey(host, ssh2)], ident: 'troupe', keepaliveInterval: 0 })
    return server.on('connection', receive)
  }

  function receive(connection: Connection): void {
    let session: WorkspaceSession | undefined
    let offClose = () => {}
    let channels = 0
    const cancelLogin = clock.after(LOGIN_MS, () => connection.end())
    connection.on('error', () => {}) // a handshake or a connection that broke: `close` follows
    connection.on('authentication', context => {
      session = authenticate(context, sessions)
      if (session === undefined) context.reject(['publickey'])
      else context.accept()
    })
    connection.on('ready', () => {
      cancelLogin()
      const current = session
      if (current === undefined || current.closed.aborted) {
        connection.end()
        return
      }
      offClose = current.onClose(() => connection.end())
      connection.on('session', (accept, reject) => {
        if (channels >= MAX_CHANNELS) {
          reject()
          return
        }
        channels += 1
        serveSshChannel(accept(), current, () => {
          channels -= 1
        })
      })
    })
    connection.on('close', () => {
      cancelLogin()
      offClose()
    })
  }

  return {
    hostKey: host.publicLine,
    issueKey(session) {
      const key = generateSshKeyPair(SSH_USER)
      const blob = key.publicBlob.toString('base64')
      sessions.set(blob, { session, key })
      session.onClose(() => sessions.delete(blob))
      return key
    },
    serve(stream) {
      stream.on('error', () => {}) // one that breaks before it is read; `close` follows
      opened ??= open()
      opened.then(
        // ssh2 wants a net.Socket and uses what every Duplex has.
        server => server.injectSocket(stream as Parameters<typeof server.injectSocket>[0]),
        error => stream.destroy(error),
      )
    },
  }
}

/** Only a public key, only of a session that is open, only with a valid signature. */
function authenticate(context: AuthContext, sessions: ReadonlyMap<string, Issued>): WorkspaceSession | undefined {
  if (context.username !== SSH_USER || context.method !== 'publickey') return undefined
  const issued = sessions.get(context.key.data.toString('base64'))
  if (issued === undefined || issued.session.closed.aborted) return undefined
  const { session, key } = issued
  if (context.signature === undefined || context.blob === undefined) return session // asks whether the key would do
  return isSignedBy(key, context.blob, context.signature) ? session : undefined
}
