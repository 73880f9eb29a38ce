import ssh2 from 'ssh2'
import * as assert from 'uvu/assert'
import { generateSshKeyPair } from '../../../src/environment/workspace/ssh-keys.ts'
import { suite } from '../../support/suite.ts'

const test = suite('ssh keys')

test('each key is read back, signs, and is verified by its public line', () => {
  for (let round = 0; round < 300; round++) {
    const { privateKey, publicLine, publicBlob } = generateSshKeyPair('agent')
    const [secret, open] = [ssh2.utils.parseKey(privateKey), ssh2.utils.parseKey(publicLine)]
    if (secret instanceof Error || open instanceof Error) throw new Error(`not read: ${privateKey} ${publicLine}`)
    assert.equal(open.getPublicSSH(), publicBlob)
    assert.is(secret.comment, 'agent')
    assert.is(open.verify('text', secret.sign('text')), true)
  }
})

test.run()
