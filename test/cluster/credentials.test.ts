import { nkeys } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { natsFilesOf, readCredentials } from '../../src/cluster/credentials.ts'
import { hide } from '../../src/redact.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('credentials for NATS')

const user = nkeys.createUser()
const seed = new TextDecoder().decode(user.getSeed())
const creds = (text: string) =>
  `-----BEGIN NATS USER JWT-----\neyJ0.eyJ1.c2ln\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${text}\n------END USER NKEY SEED------\n`

test('files are those that the variables name; an empty one is none', () => {
  assert.equal(natsFilesOf({ NATS_NKEY: '/a', NATS_CA: '/b', NATS_CREDS: '' }), { nkey: '/a', ca: '/b' })
  assert.equal(natsFilesOf({}), {})
})

test('a seed and a credentials file sign what the server asks, and their text is hidden from then on', () =>
  withFiles({ 'a.nk': `${seed}\n`, 'a.creds': creds(seed) }, async directory => {
    const bare = await readCredentials({ nkey: `${directory}/a.nk` })
    const shown = bare.authenticator?.('a nonce')
    assert.ok(shown !== undefined && 'nkey' in shown)
    assert.is(shown.nkey, user.getPublicKey())
    const whole = (await readCredentials({ creds: `${directory}/a.creds` })).authenticator?.('a nonce')
    assert.ok(whole !== undefined && 'jwt' in whole)
    assert.is(whole.jwt, 'eyJ0.eyJ1.c2ln')
    assert.not.match(hide(`leaked: ${seed}`), seed)
  }))

test('a file that cannot be used is named with its variable, without what is in it', async () => {
  const files = {
    'bad.nk': 'SUplanted-secret\n',
    'account.nk': new TextDecoder().decode(nkeys.createAccount().getSeed()),
    'bad.creds': creds('SUplanted-secret'),
    'empty.creds': '',
    'ca.pem': 'planted-secret',
  }
  await withFiles(files, async directory => {
    const at = (name: string) => `${directory}/${name}`
    const cases = [
      [{ nkey: at('gone.nk') }, /NATS_NKEY names .*gone\.nk.*no such file/],
      [{ nkey: at('bad.nk') }, /NATS_NKEY names .*no seed of a user/],
      [{ nkey: at('account.nk') }, /NATS_NKEY names .*no seed of a user/],
      [{ creds: at('bad.creds') }, /NATS_CREDS names/],
      [{ creds: at('empty.creds') }, /NATS_CREDS names .*no JWT/],
      [{ ca: at('ca.pem') }, /NATS_CA names .*no certificate in PEM/],
      [{ cert: at('ca.pem') }, /NATS_CERT names .*NATS_KEY/],
      [{ key: at('ca.pem') }, /NATS_KEY names .*NATS_CERT/],
    ] as const
    for (const [given, says] of cases) {
      const { data } = await assertRejects(readCredentials(given), 'nats-file-unusable', says)
      assert.not.match(JSON.stringify(data), 'planted-secret')
    }
    const both = readCredentials({ nkey: at('bad.nk'), creds: at('bad.creds') })
    await assertRejects(both, 'nats-files-conflict', /NATS_CREDS and NATS_NKEY/)
  })
})

test.run()
