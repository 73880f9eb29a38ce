/**
 * Keys and certificates for NATS: `node deploy/nats/make-keys.mjs DIRECTORY [NAME …]`. The names are those under which the server is addressed, `nats` for
 * instance, or an IP address; localhost and 127.0.0.1 are always among them. Replaces nothing that is there.
 *
 *   coordinator.nk worker.nk observer.nk   the seed of each role's NKey: for NATS_NKEY of that role alone
 *   public.env                             their public keys: for the server's environment
 *   ca.crt                                 for NATS_CA of every role; ca.key issues more, and need not stay on any machine
 *   tls.crt tls.key                        for the server
 *
 * Needs openssl, and the packages of this repository (`npm ci`).
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'

const ROLES = ['coordinator', 'worker', 'observer']
const DAYS = '825'

const [directory, ...names] = process.argv.slice(2)
if (directory === undefined || directory.startsWith('-'))
  refuse('name a directory: node deploy/nats/make-keys.mjs DIRECTORY [NAME …]')
const bad = names.find(name => !/^[A-Za-z0-9*][A-Za-z0-9.:*-]*$/.test(name))
if (bad !== undefined) refuse(`${bad} is no name of a host`)
if (existsSync(directory) && readdirSync(directory).length > 0)
  refuse(`${directory} has files; name another directory, or remove it`)
mkdirSync(directory, { recursive: true, mode: 0o700 })

const path = name => join(directory, name)
const keep = (name, text) => writeFileSync(path(name), text, { mode: 0o600, flag: 'wx' })

const lines = ROLES.map(role => {
  const pair = nkeys.createUser()
  keep(`${role}.nk`, `${new TextDecoder().decode(pair.getSeed())}\n`)
  return `TROUPE_${role.toUpperCase()}_NKEY=${pair.getPublicKey()}`
})
keep('public.env', `${lines.join('\n')}\n`)

const all = [...new Set([...names, 'localhost', '127.0.0.1'])]
const extensions = [
  `subjectAltName=${all.map(name => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`).join(',')}`,
  'basicConstraints=critical,CA:FALSE',
  // A server is a client of the others in its cluster.
  'extendedKeyUsage=serverAuth,clientAuth',
]
keep('extensions', `${extensions.join('\n')}\n`)
openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', path('ca.key'))
openssl(
  'req',
  '-x509',
  '-new',
  '-key',
  path('ca.key'),
  '-sha256',
  '-days',
  DAYS,
  '-subj',
  '/CN=troupe-nats-ca',
  '-out',
  path('ca.crt'),
)
openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', path('tls.key'))
openssl('req', '-new', '-key', path('tls.key'), '-subj', `/CN=${all[0]}`, '-out', path('tls.csr'))
openssl(
  ...['x509', '-req', '-in', path('tls.csr'), '-CA', path('ca.crt'), '-CAkey', path('ca.key'), '-CAcreateserial'],
  ...['-sha256', '-days', DAYS, '-extfile', path('extensions'), '-out', path('tls.crt')],
)
// What openssl was told and noted, which nobody needs again.
for (const name of ['extensions', 'tls.csr', 'ca.srl']) rmSync(path(name), { force: true })
console.log(`written to ${directory}: ${readdirSync(directory).sort().join(' ')}`)

function openssl(...argv) {
  const { status, stderr, error } = spawnSync('openssl', argv, { encoding: 'utf8' })
  if (status !== 0) refuse(`openssl ${argv[0]} failed: ${error?.message ?? stderr.trim()}`)
}

function refuse(text) {
  process.stderr.write(`make-keys: ${text}\n`)
  process.exit(1)
}
