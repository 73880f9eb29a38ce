import { generateKeyPairSync, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import type { ParsedKey, utils } from 'ssh2'

/** An ed25519 key pair in OpenSSH's own formats, which every SSH implementation reads. */
export interface SshKeyPair {
  /** PEM text, `BEGIN OPENSSH PRIVATE KEY`. */
  readonly privateKey: string
  /** `ssh-ed25519 AAAA… comment`. */
  readonly publicLine: string
  /** The public key's wire form, as a client offers it. */
  readonly publicBlob: Buffer
  /** The same two keys, ready to sign and to verify with. */
  readonly keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
}

const KIND = 'ssh-ed25519'

/**
 * Written here, after OpenSSH's PROTOCOL.key, because ssh2's own generator drops leading zero bytes: one key in about 200
 * comes out unusable.
 */
export function generateSshKeyPair(comment: string): SshKeyPair {
  const keys = generateKeyPairSync('ed25519')
  const jwk = keys.privateKey.export({ format: 'jwk' })
  const seed = Buffer.from(jwk.d ?? '', 'base64url')
  const point = Buffer.from(jwk.x ?? '', 'base64url')
  const publicBlob = Buffer.concat([field(KIND), field(point)])
  const check = randomBytes(4)
  const secret = Buffer.concat([check, check, publicBlob, field(Buffer.concat([seed, point])), field(comment)])
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1))
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(field),
    uint32(1),
    field(publicBlob),
    field(Buffer.concat([secret, padding])),
  ])
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? []
  return {
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
    publicLine: `${KIND} ${publicBlob.toString('base64')} ${comment}`,
    publicBlob,
    keys,
  }
}

/** The pair as ssh2's server takes a host key. ssh2 reads a key's text anew for each handshake, at ten times the cost of signing; this one never. */
export function toHostKey(
  { privateKey, keys }: SshKeyPair,
  ssh2: { readonly utils: Pick<typeof utils, 'parseKey'> },
): { readonly key: string } {
  const parsed = ssh2.utils.parseKey(privateKey)
  if (parsed instanceof Error) throw parsed
  const quick: ParsedKey = Object.assign(parsed, {
    sign: (data: Buffer | string) => sign(null, Buffer.from(data), keys.privateKey),
  })
  // ssh2 takes a key that it has parsed itself wherever it takes one as text; its types say text only.
  return { key: quick as unknown as string }
}

/** Whether the pair's owner has signed that. */
export function isSignedBy({ keys }: SshKeyPair, data: Buffer, signature: Buffer): boolean {
  return verify(null, data, keys.publicKey, signature)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([uint32(bytes.length), bytes])
}
