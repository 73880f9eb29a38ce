import * as assert from 'uvu/assert'
import { toListenAt } from '../../src/cli/observe-options.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli observe options')

test('a port alone is on loopback, and another address is named', () => {
  assert.equal(toListenAt('9464'), { host: '127.0.0.1', port: 9464 })
  assert.equal(toListenAt('0'), { host: '127.0.0.1', port: 0 })
  assert.equal(toListenAt('0.0.0.0:9464'), { host: '0.0.0.0', port: 9464 })
  assert.equal(toListenAt('[::1]:80'), { host: '::1', port: 80 })
  assert.equal(toListenAt('metrics.example:1'), { host: 'metrics.example', port: 1 })
})

test('what is no port is refused, and says how to write one', () => {
  for (const text of ['', 'here', '65536', '-1', '1.5', ':80', '::1:80', 'a b:80', '80:', 'http://localhost:80'])
    assert.throws(() => toListenAt(text), /Write PORT or HOST:PORT/, text)
})

test.run()
