import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { type ConnectionOptions, connect, errors, type NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep, systemClock } from '../clock.ts'
import {
  jetStreamSilent,
  natsCertificateWanted,
  natsForbidden,
  natsUnauthorized,
  natsUnreachable,
  natsUntrusted,
  natsWithoutJetStream,
  natsWithoutTls,
} from './connect-errors.ts'
import { type Credentials, type NatsFiles, natsFilesOf, readCredentials } from './credentials.ts'
import { asksForCertificate } from './greeting.ts'
import { parseNatsUrls } from './nats-urls.ts'

/** What a process is in a cluster. Each has permissions of its own, and an inbox prefix that the others may not read. */
export type ClusterRole = 'coordinator' | 'worker' | 'observer'

export interface NatsOptions {
  /** `nats://HOST:PORT` or `tls://HOST:PORT`, several with a comma between them or in a list. No user and no password. */
  readonly urls: string | readonly string[]
  readonly role: ClusterRole
  /** How the server's own lists call this connection: `troupe worker HOST`. */
  readonly name: string
  /** Default: those that the environment variables name. */
  readonly files?: NatsFiles
  /** To be connected to one server, and then to hear that JetStream is there. Default 5 s. */
  readonly connectMs?: number
  readonly clock?: Clock
}

const CONNECT_MS = 5_000
/** Servers that have JetStream and do not answer for it may only just have started, or be choosing a leader: they are asked again. */
const ANSWER_MS = 1_000
const ASK_AGAIN_MS = 200
/** Two that are not answered end the connection, and another server is dialled: a cut is noticed within 15 s. */
const PING_MS = 5_000
const RECONNECT_MS = 250
const RECONNECT_JITTER_MS = 250

/** Under which the answers to a role's requests arrive. `deploy/nats` lets only that role read them. */
export function inboxPrefixOf(role: ClusterRole): string {
  return `_INBOX.${role}`
}

/**
 * A connection to NATS on which JetStream has answered. Once connected it is kept: when it breaks, the servers of the cluster are dialled in turn for as
 * long as it takes, and whoever uses it sees requests fail meanwhile. Throws `bad-nats-url`, `secret-in-nats-url`, `nats-file-unusable`,
 * `nats-files-conflict`, `nats-unreachable`, `nats-unauthorized`, `nats-untrusted`, `nats-certificate-wanted`, `nats-without-tls`,
 * `nats-without-jetstream`, `jetstream-silent` and `nats-forbidden`.
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const { servers, mustBeTls } = parseNatsUrls(options.urls)
  const credentials = await readCredentials(options.files ?? natsFilesOf())
  const connection = await dial(
    servers,
    {
      servers: [...servers],
      name: options.name,
      inboxPrefix: inboxPrefixOf(options.role),
      timeout: options.connectMs ?? CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_JITTER_MS,
      reconnectJitterTLS: RECONNECT_JITTER_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      // A stack for every request costs more than the request.
      noAsyncTraces: true,
      ...(credentials.authenticator === undefined ? {} : { authenticator: credentials.authenticator }),
      ...(mustBeTls || credentials.tls !== undefined ? { tls: credentials.tls ?? {} } : {}),
    },
    credentials,
  )
  const limitMs = options.connectMs ?? CONNECT_MS
  try {
    await untilJetStream(connection, limitMs, options.clock ?? systemClock)
    return connection
  } catch (error) {
    await connection.close()
    throw explainJetStream(servers, limitMs, error)
  }
}

async function untilJetStream(connection: NatsConnection, limitMs: number, clock: Clock): Promise<void> {
  const deadline = clock.now() + limitMs
  for (;;)
    try {
      await jetstreamManager(connection, { timeout: Math.min(ANSWER_MS, limitMs) })
      return
    } catch (error) {
      const mayCome = error instanceof errors.TimeoutError || (isOff(error) && connection.info?.jetstream === true)
      if (!mayCome || clock.now() >= deadline) throw error
      await sleep(clock, ASK_AGAIN_MS)
    }
}

/** By its name: the library exports no class of it. */
function isOff(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled'
}

async function dial(
  servers: readonly string[],
  options: ConnectionOptions,
  credentials: Credentials,
): Promise<NatsConnection> {
  try {
    return await connect(options)
  } catch (error) {
    // Under TLS 1.3 the client has shaken hands before the server turns it away, and hears no more: what the server asks of clients is in its greeting.
    if (error instanceof errors.TimeoutError && (await asksForCertificate(servers, options.timeout ?? CONNECT_MS)))
      throw natsCertificateWanted(servers, error)
    throw explainDial(servers, credentials, error)
  }
}

/** Node's codes of a certificate that does not check out. */
const UNTRUSTED = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA)/
/** Of alerts that a server ends the handshake with for want of a certificate of the client. */
const CERTIFICATE_WANTED = /(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA)$/

function explainDial(servers: readonly string[], { shown }: Credentials, error: unknown): Error {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError)
    return natsUnauthorized(servers, shown, error)
  const code = codeOf(error)
  if (UNTRUSTED.test(code)) return natsUntrusted(servers, error)
  if (CERTIFICATE_WANTED.test(code)) return natsCertificateWanted(servers, error)
  if (error instanceof Error && /does not support 'tls'|'tls' is not available/.test(error.message))
    return natsWithoutTls(servers, error)
  return natsUnreachable(servers, error)
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}

function explainJetStream(servers: readonly string[], waitedMs: number, error: unknown): Error {
  const refused = findRefusal(error)
  if (refused !== undefined) return natsForbidden(servers, refused.subject, error)
  if (isOff(error) || error instanceof JetStreamApiError) return natsWithoutJetStream(servers, error)
  return jetStreamSilent(servers, waitedMs, error)
}

function findRefusal(error: unknown): { readonly subject: string } | undefined {
  if (error instanceof errors.PermissionViolationError) return error
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined
}
