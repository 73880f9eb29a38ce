import * as assert from 'uvu/assert'
import { parseSshAccess } from '../../../../src/runtimes/daytona/reach/gateway-address.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('daytona gateway address')

const parse = (sshCommand: string, token = 'tok') => parseSshAccess('sandbox-1', { token, sshCommand })

test('host and port are read from the command, wherever its options stand', () => {
  const gateway = { host: 'ssh.app.daytona.io', token: 'tok' }
  assert.equal(parse('ssh tok@ssh.app.daytona.io'), { ...gateway, port: 22 })
  assert.equal(parse('ssh -p 2222 tok@ssh.app.daytona.io'), { ...gateway, port: 2222 })
  assert.equal(parse('ssh tok@ssh.app.daytona.io -p2222'), { ...gateway, port: 2222 })
  assert.equal(parse('ssh -p 2222 tok@[::1]'), { host: '::1', port: 2222, token: 'tok' })
})

test('what names no gateway is refused, without its token in the message', () => {
  for (const command of ['', 'ssh', 'ssh tok@', 'ssh -p x tok@host', 'ssh -p 70000 tok@host'])
    assert.throws(() => parse(command), /names no gateway/)
  assert.throws(() => parse('ssh @host', ''), /names no gateway/)
})

test.run()
