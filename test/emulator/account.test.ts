/** What an account may use, names and times: told over HTTP. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { call, create, until, withEmulator } from './support/http.ts'

const test = suite('emulator account')

test('what the account may use and uses is told, and comes back when a sandbox goes', () =>
  withEmulator({ quota: { cpu: 3 }, regions: ['us'], limits: { 'sandbox-create': 300 } }, async emulator => {
    const headers = { authorization: `Bearer ${emulator.apiKey}` }
    const organizations = (await (await fetch(`${emulator.url}/organizations`, { headers })).json()) as {
      id: string
      sandboxCreateRateLimit: number
    }[]
    assert.is(organizations[0]?.sandboxCreateRateLimit, 300)
    const regions = (await (await fetch(`${emulator.url}/regions`, { headers })).json()) as { id: string }[]
    assert.equal(
      regions.map(({ id }) => id),
      ['us'],
    )
    const usage = async () => {
      const { body } = await call(emulator, 'GET', `/api/organizations/${organizations[0]?.id}/usage`)
      const [of] = body.regionUsage as Record<string, number>[]
      return [of?.totalCpuQuota, of?.currentCpuUsage, of?.totalDiskQuota]
    }
    const { id } = (await create(emulator, { cpu: 2 })).body
    assert.equal(await usage(), [3, 2, 16_384])
    assert.is((await create(emulator, { cpu: 2 })).status, 400)
    await call(emulator, 'DELETE', `/api/sandbox/${id}`)
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).status === 404)
    assert.equal(await usage(), [3, 0, 16_384])
    assert.is((await call(emulator, 'GET', '/api/organizations/other/usage')).status, 403)
  }))

test('a name is free again when its sandbox is gone', () =>
  withEmulator({}, async emulator => {
    assert.is((await create(emulator, { name: 'one' })).status, 200)
    assert.is((await create(emulator, { name: 'one' })).status, 409)
    await call(emulator, 'DELETE', '/api/sandbox/one')
    await until(async () => (await call(emulator, 'GET', '/api/sandbox/one')).status === 404)
    assert.is((await create(emulator, { name: 'one' })).status, 200)
  }))

test('the making of a sandbox is timed, and told from outside and inside alike', () =>
  withEmulator({}, async emulator => {
    const before = performance.timeOrigin + performance.now()
    const { id } = (await create(emulator, { name: 'timed' })).body
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
    await call(emulator, 'POST', `/toolbox/${id}/process/session`, { sessionId: 's' })
    const command = 'troupe serve environments/calc/env.ts'
    await call(emulator, 'POST', `/toolbox/${id}/process/session/s/exec`, { command, runAsync: true })
    const told = async () => (await call(emulator, 'GET', '/emulator/timeline?sandbox=timed')).body
    await until(async () => (await told()).floorMs !== null)
    const body = await told()
    const timeline = emulator.timeline('timed')
    assert.equal(body, timeline as unknown as typeof body)
    const after = performance.timeOrigin + performance.now()
    for (const { startMs, endMs } of timeline?.steps ?? [])
      assert.ok(before <= startMs && startMs <= (endMs ?? 0) && (endMs ?? after) <= after)
    assert.equal(timeline?.steps.map(({ operation }) => operation).sort(), [
      'accept',
      'boot',
      'create',
      'exec',
      'session',
    ])
    const all = (await call(emulator, 'GET', '/emulator/timeline?limit=5')).body.items as unknown[]
    assert.is(all.length, 1)
    assert.is((await call(emulator, 'GET', '/emulator/timeline?sandbox=none')).status, 404)
  }))

test.run()
