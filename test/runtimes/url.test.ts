import * as assert from 'uvu/assert'
import { type ControlServer, serveControl } from '../../src/environment/server.ts'
import { UrlRuntime } from '../../src/runtimes/url.ts'
import { formatAddress } from '../../src/wire/address.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { makeFixture } from '../wire/support/fixture-environment.ts'

const test = suite('url runtime')

async function openUrl() {
  const environment = await makeFixture()
  const server: ControlServer = await serveControl(environment, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
  const end = async () => {
    await server.close()
    await environment.close()
  }
  return { runtime: new UrlRuntime(`tcp://${formatAddress(server.address)}`), server, leftovers: () => [], end }
}

runtimeContract(test, openUrl)

test('what is borrowed goes on serving after close, without the sessions that were given back', async () => {
  const { runtime, server, end } = await openUrl()
  const sandbox = await runtime.provision(toRequest('one', { prewarm: true }))
  assert.is(server.sessionCount(), 1)
  await sandbox.dispose({ sessionEnded: false })
  assert.is(server.sessionCount(), 0)
  await runtime.close()
  const again = new UrlRuntime(formatAddress(server.address))
  await again.preflight()
  await again.close()
  await end()
})

test('an address where nobody serves is named by the preflight', async () => {
  const { runtime: live, server, end } = await openUrl()
  await live.close()
  await end()
  const runtime = new UrlRuntime(formatAddress(server.address), { connectDeadlineMs: 200 })
  const error = await failure(runtime.preflight())
  assert.is(error.tag, 'nobody-serves')
  assert.ok(error.message.includes(formatAddress(server.address)))
  await runtime.close()
})

test('takes host:port and tcp://host:port, IPv6 in brackets, and nothing else', () => {
  assert.equal(new UrlRuntime('example.org:80').address, { kind: 'tcp', host: 'example.org', port: 80 })
  assert.equal(new UrlRuntime('tcp://[::1]:8765').address, { kind: 'tcp', host: '::1', port: 8765 })
  for (const text of [
    '',
    'example.org',
    'http://example.org:80',
    'example.org:0',
    'example.org:70000',
    '::1:80',
    'a:1/x',
  ])
    assert.throws(() => new UrlRuntime(text), /is not an address/)
})

test.run()
