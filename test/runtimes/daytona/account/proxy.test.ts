/** A proxy in the environment is for the provider, never for what listens on this machine. */
import { createServer } from 'node:http'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { portOf } from '../../../../src/emulator/gateway.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { isLoopback } from '../../../../src/runtimes/daytona/account/loopback.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'
import { suite } from '../../../support/suite.ts'
import { withProvider } from '../fake-provider.ts'

const test = suite('daytona proxy')
const VARIABLES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NO_PROXY', 'no_proxy'] as const

/** With a proxy in the environment that answers every call itself. */
async function withProxy(body: (asked: readonly string[]) => Promise<void>): Promise<void> {
  const asked: string[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'of-the-proxy' }))
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const before = VARIABLES.map(name => [name, process.env[name]] as const)
  for (const name of VARIABLES) delete process.env[name]
  process.env.HTTP_PROXY = `http://127.0.0.1:${portOf(proxy)}`
  try {
    await body(asked)
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    proxy.closeAllConnections()
    await new Promise(resolve => proxy.close(resolve))
  }
}

const open = (apiUrl: string) => openAccount({ apiUrl, apiKey: 'k', clock: systemClock })

test('calls to this machine go straight there: ours, and those of the SDK', () =>
  withProxy(asked =>
    withProvider([{ status: 200, body: { id: 'x', name: 's', state: 'active' } }], async (apiUrl, seen) => {
      const account = await open(apiUrl)
      const { id } = await callDaytona('look', () => account.sandboxes.getSandbox('x'))
      assert.is(id, 'x')
      const sdk = await account.sdk()
      await sdk.snapshot.get('s')
      await account.release()
      assert.is(seen.length, 2)
      assert.equal(asked, [])
    }),
  ))

test('calls to a provider elsewhere go through it', () =>
  withProxy(async asked => {
    const account = await open('http://provider.example/api')
    const { id } = await callDaytona('look', () => account.sandboxes.getSandbox('x'))
    await account.release()
    assert.is(id, 'of-the-proxy')
    assert.is(asked.length, 1)
  }))

test('loopback is told by the name, in whatever form', () => {
  const here = [
    'http://127.0.0.1:8790/api',
    'http://localhost/api',
    'https://[::1]:1/',
    'http://a.localhost/',
    'http://127.1/',
  ]
  const elsewhere = [
    'https://app.daytona.io/api',
    'http://10.0.0.1/',
    'http://localhost.example/',
    'http://127.0.0.1.example/',
  ]
  assert.equal([here.filter(isLoopback), elsewhere.filter(isLoopback)], [here, []])
  assert.not.ok(isLoopback('no url'))
})

test.run()
