/** What can go wrong between this process and a NATS server, in words. */
import { TroupeError } from '../errors.ts'

const list = (servers: readonly string[]): string => servers.join(', ')

export function badNatsUrl(text: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'bad-nats-url',
    message: `${text} is no address of a NATS server: ${why}. Write nats://HOST:PORT, or tls://HOST:PORT to refuse one without TLS; several with a comma between them.`,
    address: text,
  })
}

/** The address is not told, since a secret is in it. */
export function secretInNatsUrl(): TroupeError {
  return new TroupeError({
    tag: 'secret-in-nats-url',
    message:
      'a NATS address has a user, a password or a token in it, which every process of this machine could read. Write nats://HOST:PORT alone, and name a file in the variable NATS_CREDS or NATS_NKEY.',
  })
}

export function natsFileUnusable(variable: string, path: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'nats-file-unusable',
      message: `${variable} names ${path}, which cannot be used: ${why}. Correct the variable or the file; docs/scale-out.md says what is in it.`,
      address: path,
      details: { variable },
    },
    cause,
  )
}

export function natsFilesConflict(one: string, other: string): TroupeError {
  return new TroupeError({
    tag: 'nats-files-conflict',
    message: `${one} and ${other} do not go together. Unset one of them.`,
    details: { variables: [one, other] },
  })
}

export function natsUnreachable(servers: readonly string[], cause: unknown): TroupeError {
  const why = cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'nats-unreachable',
      message: `no NATS server answers at ${list(servers)}: ${why}. Start one there (nats-server -js), or correct the address.`,
      address: list(servers),
    },
    cause,
  )
}

/** `shown`: who this process said that it is. */
export function natsUnauthorized(servers: readonly string[], shown: string | undefined, cause: unknown): TroupeError {
  const who =
    shown === undefined
      ? 'this process showed no credentials: name a file in NATS_CREDS or NATS_NKEY'
      : `it knows no user with the credentials in ${shown}: add that user to the server's configuration, or name another file`
  return new TroupeError(
    {
      tag: 'nats-unauthorized',
      message: `the NATS server at ${list(servers)} refuses this process; ${who}.`,
      address: list(servers),
    },
    cause,
  )
}

export function natsUntrusted(servers: readonly string[], cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'nats-untrusted',
      message: `the certificate of the NATS server at ${list(servers)} cannot be trusted: ${why}. Name the file of the authority that issued it in NATS_CA, and address the server by a name that is in its certificate.`,
      address: list(servers),
    },
    cause,
  )
}

/** The server asks for a certificate of ours, and refuses what it was shown. */
export function natsCertificateWanted(servers: readonly string[], cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'nats-certificate-wanted',
      message: `the NATS server at ${list(servers)} wants a certificate of this process that its authority has issued. Name the files in NATS_CERT and NATS_KEY.`,
      address: list(servers),
    },
    cause,
  )
}

export function natsWithoutTls(servers: readonly string[], cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'nats-without-tls',
      message: `the NATS server at ${list(servers)} offers no TLS, and TLS was asked for (by tls:// or NATS_CA). Give the server a certificate; nothing is sent in the clear instead.`,
      address: list(servers),
    },
    cause,
  )
}

export function natsWithoutJetStream(servers: readonly string[], cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'nats-without-jetstream',
      message: `the NATS server at ${list(servers)} has no JetStream for this account. Start it with -js, or add jetstream to its configuration and "jetstream: enabled" to the account.`,
      address: list(servers),
    },
    cause,
  )
}

export function natsForbidden(servers: readonly string[], subject: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'nats-forbidden',
      message: `the NATS server at ${list(servers)} does not let this user use ${subject}. Give the process the credentials of its role, or the role its permissions: deploy/nats/troupe.conf has them.`,
      address: list(servers),
      details: { subject },
    },
    cause,
  )
}

export function jetStreamSilent(servers: readonly string[], waitedMs: number, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'jetstream-silent',
      message: `JetStream did not answer at ${list(servers)} within ${waitedMs / 1_000} s. In a cluster it needs more than half of the servers: start the others, then try again.`,
      address: list(servers),
    },
    cause,
  )
}
