import type { Duplex } from 'node:stream'
import ssh2, { type AuthContext } from 'ssh2'
import type { Clock } from '../../clock.ts'
import type { WorkspaceSession } from './session.ts'
import { generateSshKeyPair, type SshKeyPair } from './ssh-keys.ts'
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

export function makeSshServer(clock: Clock): WorkspaceSshServer {
  const host = generateSshKeyPair('troupe')
  const sessions = new Map<string, WorkspaceSession>()
  const server = new ssh2.Server({ hostKeys: [host.privateKey], ident: 'troupe', keepaliveInterval: 0 })

  server.on('connection', connection => {
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
  })

  return {
    hostKey: host.publicLine,
    issueKey(session) {
      const key = generateSshKeyPair(SSH_USER)
      const blob = key.publicBlob.toString('base64')
      sessions.set(blob, session)
      session.onClose(() => sessions.delete(blob))
      return key
    },
    serve(stream) {
      // ssh2 wants a net.Socket and uses what every Duplex has.
      server.injectSocket(stream as Parameters<typeof server.injectSocket>[0])
    },
  }
}

/** Only a public key, only of a session that is open, only with a valid signature. */
function authenticate(
  context: AuthContext,
  sessions: ReadonlyMap<string, WorkspaceSession>,
): WorkspaceSession | undefined {
  if (context.username !== SSH_USER || context.method !== 'publickey') return undefined
  const session = sessions.get(context.key.data.toString('base64'))
  if (session === undefined || session.closed.aborted) return undefined
  if (context.signature === undefined || context.blob === undefined) return session // asks whether the key would do
  const key = ssh2.utils.parseKey(`${context.key.algo} ${context.key.data.toString('base64')}`)
  if (key instanceof Error) return undefined
  return key.verify(context.blob, context.signature, context.hashAlgo) === true ? session : undefined
}
