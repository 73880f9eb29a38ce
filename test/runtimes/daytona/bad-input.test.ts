/** What a person may get wrong, and what they are told. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { openAccount, readAccountSettings } from '../../../src/runtimes/daytona/account/open-account.ts'
import { DaytonaRuntime } from '../../../src/runtimes/daytona/daytona-runtime.ts'
import type { DaytonaRuntimeOptions } from '../../../src/runtimes/daytona/options.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'
import { failure } from '../../wire/support/failure.ts'
import { withScene } from './daytona-scene.ts'

const test = suite('daytona bad input')

const throws = (body: () => unknown) => failure((async () => body())())

test('without a key both ways to one are told', async () => {
  for (const variables of [{}, { DAYTONA_API_KEY: ' ' }]) {
    const error = await throws(() => readAccountSettings({}, variables))
    assert.is(error.tag, 'daytona-no-key')
    assert.match(error.message, /DAYTONA_API_KEY.*troupe emulator.*DAYTONA_API_URL/)
  }
})

test('options come before variables, and variables before what is the provider’s own', () => {
  const variables = { DAYTONA_API_KEY: 'k', DAYTONA_API_URL: 'http://127.0.0.1:1/api/', DAYTONA_TARGET: 'eu' }
  assert.equal(readAccountSettings({}, variables), { apiKey: 'k', apiUrl: 'http://127.0.0.1:1/api', region: 'eu' })
  const given = { apiKey: 'own', apiUrl: 'https://own.example/api', region: 'us' }
  assert.equal(readAccountSettings(given, variables), given)
  const bare = readAccountSettings({}, { DAYTONA_API_KEY: 'k' })
  assert.equal(bare, { apiKey: 'k', apiUrl: 'https://app.daytona.io/api', region: undefined })
})

test('an address that is none is told before anything is asked', async () => {
  for (const apiUrl of ['localhost:3000', 'app.daytona.io/api', 'ftp://x/api', 'https://', 'http://x/api?a=b']) {
    const error = await failure(openAccount({ apiUrl, apiKey: 'k', clock: systemClock }))
    assert.is(error.tag, 'daytona-bad-url', apiUrl)
    assert.match(error.message, /DAYTONA_API_URL/)
  }
})

const OPTIONS: readonly [snapshot: string, options: DaytonaRuntimeOptions, says: RegExp][] = [
  ['', {}, /snapshot/],
  ['x', { autoStopMinutes: 0 }, /autoStopMinutes .*whole number of minutes/],
  ['x', { autoStopMinutes: 1.5 }, /autoStopMinutes/],
  ['x', { port: 70_000 }, /port/],
  ['x', { startDeadlineMs: 0 }, /startDeadlineMs/],
  ['x', { resources: { cpu: 0.5 } }, /resources\.cpu/],
]

for (const [snapshot, options, says] of OPTIONS)
  test(`${JSON.stringify(options)} for "${snapshot}" is refused when it is written`, async () => {
    const error = await throws(() => new DaytonaRuntime(snapshot, options))
    assert.is(error.tag, 'daytona-bad-option')
    assert.match(error.message, says)
  })

test('a key that is refused, a region that is none, a snapshot that is not there and a pool too big: the preflight tells', () =>
  withScene(
    async scene => {
      const preflight = async (options: DaytonaRuntimeOptions, tag: string, says: RegExp) => {
        const runtime = scene.makeRuntime(options)
        await assertRejects(runtime.preflight({ sandboxes: 3, providerPool: false }), tag, says)
        await runtime.close()
      }
      await preflight({ apiKey: 'wrong' }, 'daytona-unauthorized', /127\.0\.0\.1.*DAYTONA_API_KEY/)
      await preflight({ region: 'moon' }, 'daytona-region-unknown', /"moon".*us, eu.*DAYTONA_TARGET/)
      await preflight({}, 'quota-too-small', /./)
      const absent = new DaytonaRuntime('absent', { apiUrl: scene.emulator.url, apiKey: scene.emulator.apiKey })
      await assertRejects(absent.preflight(), 'snapshot-missing', /absent/)
      await absent.close()
      const silent = new DaytonaRuntime('daytonaio/sandbox', {
        apiUrl: scene.emulator.url,
        apiKey: scene.emulator.apiKey,
      })
      await assertRejects(silent.preflight(), 'daytona-no-command', /`command`.*`image`/)
      await silent.close()
    },
    { emulated: { quota: { cpu: 2, memory: 99, disk: 99 } } },
  ))

test('a preflight that has failed may go well the next time', () =>
  withScene(async scene => {
    scene.emulator.faults.set({ kind: 'server-error', share: 1 })
    await assertRejects(scene.runtime.preflight(), 'daytona-server-error')
    scene.emulator.faults.clear()
    await scene.runtime.preflight()
  }))

test('a quota that is used up meanwhile is told by the create, and is not transient', () =>
  withScene(
    async scene => {
      await scene.runtime.provision(toRequest('one'))
      const error = await assertRejects(scene.runtime.provision(toRequest('two')), 'daytona-quota', /Total CPU limit/)
      assert.is(error.data.transient, undefined)
    },
    { emulated: { quota: { cpu: 1, memory: 99, disk: 99 } } },
  ))

test('an image without a server on the port is told with what its command wrote, and the sandbox is deleted', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ command: 'echo no server here', startDeadlineMs: 5_000 })
    await assertRejects(runtime.provision(toRequest('one')), 'environment-not-serving', /no server here/)
    assert.is(scene.emulator.existing(), 0)
    await runtime.close()
  }))

test.run()
