/** Who a process is at NATS: files that environment variables name, as the `nats` command reads them. Never the command line, which everybody can list. */
import { readFile } from 'node:fs/promises'
import { type Authenticator, credsAuthenticator, nkeyAuthenticator, type TlsOptions } from '@nats-io/transport-node'
import { noteSecret } from '../redact.ts'
import { natsFilesConflict, natsFileUnusable } from './connect-errors.ts'

/** Paths; each may be left out. */
export interface NatsFiles {
  /** A credentials file: a user's JWT, and the seed of its NKey. */
  readonly creds?: string
  /** The seed of an NKey alone, `SU…`, on the first line. */
  readonly nkey?: string
  /** The authorities that may have issued the server's certificate, in PEM. With it TLS is a must. */
  readonly ca?: string
  /** The certificate of this process and its key, in PEM, where the server verifies its clients. */
  readonly cert?: string
  readonly key?: string
}

/** What `NATS_CREDS`, `NATS_NKEY`, `NATS_CA`, `NATS_CERT` and `NATS_KEY` name. One that is empty is none. */
export function natsFilesOf(variables: NodeJS.ProcessEnv = process.env): NatsFiles {
  const named = {
    creds: variables.NATS_CREDS,
    nkey: variables.NATS_NKEY,
    ca: variables.NATS_CA,
    cert: variables.NATS_CERT,
    key: variables.NATS_KEY,
  }
  return Object.fromEntries(Object.entries(named).filter(([, path]) => path !== undefined && path !== ''))
}

/** What the client shows the server, and by what it knows the server. */
export interface Credentials {
  readonly authenticator?: Authenticator
  /** The file that the authenticator is from. */
  readonly shown?: string
  readonly tls?: TlsOptions
}

/** Reads them all, so that a mistake in one is told before anything is dialled. Throws `nats-file-unusable` and `nats-files-conflict`. */
export async function readCredentials(files: NatsFiles): Promise<Credentials> {
  if (files.creds !== undefined && files.nkey !== undefined) throw natsFilesConflict('NATS_CREDS', 'NATS_NKEY')
  return { ...(await readUser(files)), ...(await readTls(files)) }
}

async function readUser({ creds, nkey }: NatsFiles): Promise<Credentials> {
  if (creds !== undefined) {
    const text = await read('NATS_CREDS', creds)
    const authenticator = credsAuthenticator(new TextEncoder().encode(text))
    for (const [seed] of text.matchAll(/\bS[A-Z2-7]{20,}\b/g)) noteSecret(seed)
    tryOut(authenticator, () => natsFileUnusable('NATS_CREDS', creds, 'it holds no JWT with a seed'))
    return { authenticator, shown: creds }
  }
  if (nkey !== undefined) {
    const [seed = ''] = (await read('NATS_NKEY', nkey)).trim().split('\n')
    noteSecret(seed)
    const authenticator = nkeyAuthenticator(new TextEncoder().encode(seed.trim()))
    tryOut(authenticator, () => natsFileUnusable('NATS_NKEY', nkey, 'its first line is no seed of a user (SU…)'))
    return { authenticator, shown: nkey }
  }
  return {}
}

/** An authenticator that throws when the server asks would leave the client waiting for the rest of its time. */
function tryOut(authenticator: Authenticator, refuse: () => Error): void {
  let shown: unknown
  try {
    shown = authenticator('nonce')
  } catch {
    // The library's error may quote what it could not read, which is a secret.
    throw refuse()
  }
  const isUser = typeof shown === 'object' && shown !== null && 'nkey' in shown && String(shown.nkey).startsWith('U')
  if (!isUser) throw refuse()
}

async function readTls({ ca, cert, key }: NatsFiles): Promise<Credentials> {
  if (cert !== undefined && key === undefined)
    throw natsFileUnusable('NATS_CERT', cert, 'its key is wanted, too, in NATS_KEY')
  if (key !== undefined && cert === undefined)
    throw natsFileUnusable('NATS_KEY', key, 'its certificate is wanted, too, in NATS_CERT')
  if (ca === undefined && cert === undefined) return {}
  return {
    tls: {
      ...(ca === undefined ? {} : { ca: await readPem('NATS_CA', ca, 'CERTIFICATE') }),
      ...(cert === undefined ? {} : { cert: await readPem('NATS_CERT', cert, 'CERTIFICATE') }),
      ...(key === undefined ? {} : { key: await readPem('NATS_KEY', key, 'PRIVATE KEY') }),
    },
  }
}

async function readPem(variable: string, path: string, kind: string): Promise<string> {
  const text = await read(variable, path)
  if (!new RegExp(`-----BEGIN [A-Z ]*${kind}-----`).test(text))
    throw natsFileUnusable(variable, path, `it holds no ${kind.toLowerCase()} in PEM`)
  return text
}

async function read(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const why = code === 'ENOENT' ? 'there is no such file' : `reading it failed with ${code}`
    throw natsFileUnusable(variable, path, why, error)
  }
}
