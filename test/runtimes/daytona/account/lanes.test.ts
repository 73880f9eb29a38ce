/** Calls of one kind keep none of another waiting. */
import { createServer, type ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { makeFasterClock } from '../../../../src/emulator/faster-clock.ts'
import { portOf } from '../../../../src/emulator/gateway.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { listSandboxes } from '../../../../src/runtimes/daytona/account/list-sandboxes.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'
import { suite } from '../../../support/suite.ts'
import { failure } from '../../../wire/support/failure.ts'
import { withProvider } from '../fake-provider.ts'

const test = suite('daytona lanes')

const open = (apiUrl: string) => openAccount({ apiUrl, apiKey: 'k', clock: makeFasterClock(systemClock, 50) })

test('a delete goes through while hundreds of creates wait for their answer', async () => {
  const CREATES = 300
  const held: ServerResponse[] = []
  let allHeld = () => {}
  const creating = new Promise<void>(resolve => {
    allHeld = resolve
  })
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      held.push(response)
      if (held.length === CREATES) allHeld()
    } else response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const account = await open(`http://127.0.0.1:${portOf(server)}/api`)
  const creates = Array.from({ length: CREATES }, (_, index) => account.sandboxes.createSandbox({ name: `x${index}` }))
  const settled = Promise.allSettled(creates)
  try {
    await creating
    await callDaytona('delete y', () => account.sandboxes.deleteSandbox('y'))
    assert.is(held.length, CREATES, 'none of them had been answered')
  } finally {
    for (const response of held) response.destroy()
    await settled
    await account.release()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
})

test('a limit on deletes and looks holds up no create', () =>
  withProvider(
    [{ status: 429, headers: { 'retry-after': '1', 'retry-after-sandbox-lifecycle': '1' } }],
    async (apiUrl, seen) => {
      const account = await open(apiUrl)
      const refused = await failure(callDaytona('delete x', () => account.sandboxes.deleteSandbox('x')))
      assert.equal([refused.tag, seen.length], ['daytona-rate-limited', 3])
      assert.is(account.creates.take(account.clock.now()), true)
      await account.release()
    },
  ))

test('a list whose second page is refused for now is read to its end, nothing twice', () =>
  withProvider(
    [
      { status: 200, body: { items: [{ id: 'a', state: 'started' }], nextCursor: 'second' } },
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 503 },
      { status: 503 },
      { status: 200, body: { items: [{ id: 'b', state: 'started' }] } },
    ],
    async (apiUrl, seen) => {
      const account = await open(apiUrl)
      const found = await listSandboxes(account)
      assert.equal(
        found.map(({ id }) => id),
        ['a', 'b'],
      )
      assert.equal(
        seen.map(({ path }) => /cursor=second/.test(path)),
        [false, true, true, true, true],
      )
      await account.release()
    },
  ))

test.run()
