/** The whole way to a sandbox in a cloud: the provider's preview proxy, an environment served behind it, a task and its shell. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import type { Address } from '../../src/wire/address.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import { openShell } from '../../src/wire/open-shell.ts'
import { suite } from '../support/suite.ts'
import { failure } from './support/failure.ts'

const test = suite('a sandbox behind a preview proxy')

async function call(emulator: Emulator, method: string, path: string, body?: unknown): Promise<Record<string, string>> {
  const answer = await fetch(new URL(path, emulator.url), {
    method,
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await answer.json().catch(() => ({}))) as Record<string, string>
}

test('it is reached by its preview URL and token once it serves, with a shell, and parked and resumed', async () => {
  const emulator = await startEmulator({ speed: 100, seed: 1 })
  const client = makeControlClient()
  try {
    const { id } = await call(emulator, 'POST', '/api/sandbox', {})
    const toolbox = `/toolbox/${id}/process/session`
    while ((await call(emulator, 'POST', toolbox, { sessionId: 's' })).statusCode !== undefined);
    const preview = await call(emulator, 'GET', `/api/sandbox/${id}/ports/8765/preview-url`)
    const reached = (token = ''): Address => ({
      kind: 'websocket',
      url: `${preview.url?.replace('http', 'ws')}`,
      headers: { 'x-daytona-preview-token': token },
    })
    const options = { clock: systemClock, deadlineMs: 20_000 }
    const refused = await failure(client.connect(reached('wrong'), options))
    assert.is(refused.tag, 'token-refused')
    // Nothing listens yet: the proxy says so, and it is tried again.
    const connecting = client.connect(reached(preview.token), options)
    await call(emulator, 'POST', `${toolbox}/s/exec`, {
      command: 'troupe serve environments/calc/env.ts',
      runAsync: true,
    })
    const session = await connecting
    assert.is(session.env.name, 'calc')
    assert.ok(await session.startTask('fix_calc', { variant: 0 }))
    for (const protocol of ['exec/1', 'ssh/2']) {
      const bindings = session.bindings.filter(binding => binding.protocol === protocol)
      const through = { env: session.env, bindings, openTunnel: (name: string) => session.openTunnel(name) }
      const shell = await openShell(through, systemClock)
      assert.match((await shell.exec('ls; cat > note', { stdin: 'x'.repeat(300_000) })).stdout, 'calc.py')
      assert.is((await shell.readFile('note')).length, 300_000)
      await shell.close()
    }
    await session.park()
    const resumed = await client.connect(reached(preview.token), { ...options, sessionId: session.sessionId })
    assert.is((await resumed.grade('done')).score, 0)
    assert.is(await resumed.end(), true)
  } finally {
    await client.close()
    await emulator.close()
  }
})

test.run()
