/** Connections to a real nats-server: what goes wrong is told with what to do next, and what is connected stays so. */

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { connectNats } from '../../src/cluster/connect.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { makeKeys } from './support/keys.ts'
import { startNats } from './support/nats.ts'

const test = suite('connecting to NATS')
const AS_WORKER = { role: 'worker', name: 'test', files: {} } as const

test('a server with JetStream is connected to by name, and its answers come under the role’s own prefix', async () => {
  await using nats = await startNats()
  const connection = await connectNats({ ...AS_WORKER, urls: nats.urls })
  let replyTo = ''
  connection.subscribe('ask', {
    callback(_error, message) {
      replyTo = message.reply ?? ''
      message.respond('yes')
    },
  })
  const answer = await connection.request('ask')
  assert.is(answer.string(), 'yes')
  assert.match(replyTo, /^_INBOX\.worker\./)
  await connection.close()
})

test('nobody there, and somebody who is no NATS server, are told with the address', async () => {
  const other = createServer(socket => socket.end('220 mail.example\r\n'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const url = `nats://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  try {
    const error = await assertRejects(connectNats({ ...AS_WORKER, urls: url }), 'nats-unreachable')
    assert.is(error.data.address, url.slice('nats://'.length))
  } finally {
    await new Promise(resolve => other.close(resolve))
  }
  await assertRejects(connectNats({ ...AS_WORKER, urls: url }), 'nats-unreachable', /nats-server -js/)
})

test('a server without JetStream says how to start it', async () => {
  await using nats = await startNats({ jetStream: false })
  await assertRejects(connectNats({ ...AS_WORKER, urls: nats.urls }), 'nats-without-jetstream', /-js/)
})

test('an account without JetStream says how it gets it, once the server has had time to start', async () => {
  await using nats = await startNats({
    config: 'accounts { A: { users: [{ user: a, password: b }] } }, no_auth_user: a',
  })
  const asked = connectNats({ ...AS_WORKER, urls: nats.urls, connectMs: 500 })
  await assertRejects(asked, 'nats-without-jetstream', /jetstream: enabled/)
})

test('a key that the server does not know is refused, and so is none', async () => {
  const known = nkeys.createUser().getPublicKey()
  await using nats = await startNats({ config: `authorization { users: [{ nkey: ${known} }] }` })
  const seed = new TextDecoder().decode(nkeys.createUser().getSeed())
  await withFiles({ 'other.nk': seed }, async directory => {
    const nkey = join(directory, 'other.nk')
    const as = { ...AS_WORKER, urls: nats.urls }
    const refused = await assertRejects(connectNats({ ...as, files: { nkey } }), 'nats-unauthorized', /other\.nk/)
    assert.not.match(JSON.stringify(refused.data), seed)
    await assertRejects(connectNats(as), 'nats-unauthorized', /NATS_CREDS or NATS_NKEY/)
  })
})

test('a user who may not ask JetStream is told which subject', async () => {
  const pair = nkeys.createUser()
  const user = `{ nkey: ${pair.getPublicKey()}, permissions: { publish: "else", subscribe: ">" } }`
  await using nats = await startNats({ config: `authorization { users: [${user}] }` })
  await withFiles({ 'own.nk': new TextDecoder().decode(pair.getSeed()) }, async directory => {
    const files = { nkey: join(directory, 'own.nk') }
    const error = await assertRejects(connectNats({ ...AS_WORKER, urls: nats.urls, files }), 'nats-forbidden')
    assert.is(error.data.details?.subject, '$JS.API.INFO')
  })
})

test('TLS: trusted by its authority alone, by a name in the certificate, and never given up for want of it', () =>
  withFiles({}, async directory => {
    const keys = await makeKeys(join(directory, 'keys'))
    const strangers = await makeKeys(join(directory, 'strangers'))
    const tls = `tls { cert_file: "${keys.cert}", key_file: "${keys.key}" }`
    await using nats = await startNats({ config: tls, scheme: 'tls' })
    const as = { ...AS_WORKER, urls: nats.urls }
    const connection = await connectNats({ ...as, files: { ca: keys.ca } })
    assert.ok(connection.info?.tls_required)
    await connection.close()
    await assertRejects(connectNats(as), 'nats-untrusted', /NATS_CA/)
    await assertRejects(connectNats({ ...as, files: { ca: strangers.ca } }), 'nats-untrusted')
    await using plain = await startNats()
    await assertRejects(connectNats({ ...as, urls: plain.urls, files: { ca: keys.ca } }), 'nats-without-tls')
    const asked = plain.urls.map(url => url.replace('nats:', 'tls:'))
    await assertRejects(connectNats({ ...as, urls: asked }), 'nats-without-tls')
  }))

test('a server that verifies its clients takes those with a certificate of its authority', () =>
  withFiles({}, async directory => {
    const keys = await makeKeys(join(directory, 'keys'))
    const tls = `tls { cert_file: "${keys.cert}", key_file: "${keys.key}", ca_file: "${keys.ca}", verify: true }`
    await using nats = await startNats({ config: tls, scheme: 'tls' })
    const as = { ...AS_WORKER, urls: nats.urls }
    const connection = await connectNats({ ...as, files: { ca: keys.ca, cert: keys.cert, key: keys.key } })
    await connection.close()
    const without = connectNats({ ...as, files: { ca: keys.ca }, connectMs: 500 })
    await assertRejects(without, 'nats-certificate-wanted', /NATS_CERT/)
    const strangers = await makeKeys(join(directory, 'strangers'))
    const foreign = { ca: keys.ca, cert: strangers.cert, key: strangers.key }
    await assertRejects(connectNats({ ...as, files: foreign, connectMs: 500 }), 'nats-certificate-wanted')
  }))

test('a connection outlives its server: what was subscribed is heard again when it is back', async () => {
  await using nats = await startNats()
  const [server] = nats.servers
  assert.ok(server)
  const connection = await connectNats({ ...AS_WORKER, urls: nats.urls })
  const heard = connection.subscribe('told')
  const back = (async () => {
    for await (const { type } of connection.status()) if (type === 'reconnect') return
  })()
  await server.kill()
  await server.start()
  await back
  connection.publish('told', 'again')
  for await (const message of heard) {
    assert.is(message.string(), 'again')
    break
  }
  await connection.close()
})

test('three servers are one: the connection goes on with another when its own is gone', async () => {
  await using nats = await startNats({ cluster: 3 })
  const connection = await connectNats({ ...AS_WORKER, urls: nats.urls })
  const own = nats.servers.find(({ url }) => url.endsWith(`:${connection.info?.port}`))
  assert.ok(own)
  const back = (async () => {
    for await (const { type } of connection.status()) if (type === 'reconnect') return
  })()
  await own.kill()
  await back
  assert.is.not(connection.info?.server_name, own.name)
  await connection.close()
})

test('a lone server of three has no leader, and says so', async () => {
  await using nats = await startNats({ cluster: 3 })
  // One that has led goes on for some seconds in the belief that it does.
  const [, own, told] =
    /^(s\d) .*Self is new JetStream cluster metadata leader$|new metadata leader: (s\d)\//m.exec(nats.log.join('\n')) ??
    []
  const leader = own ?? told
  const left = nats.servers.find(({ name }) => name !== leader)
  assert.ok(left !== undefined && leader !== undefined)
  await Promise.all(nats.servers.filter(each => each !== left).map(other => other.kill()))
  await assertRejects(connectNats({ ...AS_WORKER, urls: left.url }), 'jetstream-silent', /more than half/)
})

test('files that the environment names are used where none are given', () =>
  withFiles({ 'bad.nk': 'nothing' }, async directory => {
    await writeFile(join(directory, 'bad.nk'), 'nothing')
    const before = process.env.NATS_NKEY
    process.env.NATS_NKEY = join(directory, 'bad.nk')
    try {
      const asked = connectNats({ urls: 'nats://127.0.0.1:1', role: 'worker', name: 'test' })
      await assertRejects(asked, 'nats-file-unusable', /NATS_NKEY/)
    } finally {
      if (before === undefined) delete process.env.NATS_NKEY
      else process.env.NATS_NKEY = before
    }
  }))

test.run()
