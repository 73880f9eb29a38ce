/** Sandboxes from create to delete, with what goes wrong on the way, at the emulator. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { makeFasterClock } from '../../../../src/emulator/faster-clock.ts'
import { type ErrorData, hasTag, toErrorData } from '../../../../src/errors.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { removeSandbox } from '../../../../src/runtimes/daytona/sandbox/remove-sandbox.ts'
import type { ProvisionRequest, Sandbox } from '../../../../src/runtimes/runtime.ts'
import { toRequest } from '../../../contracts/runtime.ts'
import { assertRejects } from '../../../support/assert-rejects.ts'
import { suite } from '../../../support/suite.ts'
import { type DaytonaScene, look, withAccount, withScene } from '../daytona-scene.ts'

const test = suite('daytona sandboxes')

test('a create carries a name of ours, our labels and an end, and nothing that would rule out a pool', () =>
  withScene(
    async scene => {
      const expiry = new Date(Date.now() + 90 * 60_000).toISOString()
      await scene.runtime.provision(toRequest('one', { labels: { job: 'a-job', owner: 'me', expiry } }))
      const dto = await look(scene, 'troupe-one')
      assert.equal(dto.labels, {
        'troupe-job': 'a-job',
        'troupe-owner': 'me',
        'troupe-expiry': expiry,
        'troupe-sandbox': 'one',
      })
      assert.equal(dto.env, {})
      assert.is(dto.autoStopInterval, 7)
      assert.is(dto.autoDeleteInterval, 0)
      const minutes = (Date.parse(dto.autoDestroyAt ?? '') - Date.now()) / 60_000
      assert.ok(minutes > 88 && minutes <= 90, String(minutes))
    },
    { options: { autoStopMinutes: 7 } },
  ))

test('a create whose answer never came is found by its name and used', () =>
  withScene(async scene => {
    await scene.runtime.preflight()
    scene.emulator.faults.set({ kind: 'reset-create', next: 1 })
    const sandbox = await scene.runtime.provision(toRequest('one'))
    assert.is(sandbox.origin, 'cold')
    assert.is(scene.emulator.counts.created, 1)
    assert.equal(scene.emulator.faults.struck, { 'reset-create': 1 })
    await sandbox.dispose({ sessionEnded: true })
    assert.is(scene.emulator.existing(), 0)
  }))

test('a create that is called off meanwhile is waited for and deleted, answered or not', async () => {
  for (const reset of [0, 1])
    await withScene(async scene => {
      await scene.runtime.preflight()
      scene.emulator.faults.set({ kind: 'reset-create', next: reset })
      const controller = new AbortController()
      const providing = scene.runtime.provision(toRequest('one', { signal: controller.signal }))
      while (scene.emulator.counts.created === 0) await new Promise(resolve => setImmediate(resolve))
      controller.abort()
      await assertRejects(providing, 'provision-cancelled')
      assert.is(scene.emulator.existing(), 0)
      assert.is(scene.emulator.counts.created, 1)
    })
})

test('a limit on creates is told as transient, with when to come back', () =>
  withScene(async scene => {
    await scene.runtime.preflight()
    scene.emulator.faults.set({ kind: 'too-many-requests', next: 1 })
    const { data } = await assertRejects(scene.runtime.provision(toRequest('one')), 'daytona-rate-limited')
    assert.is(data.transient, true)
    assert.is(data.details?.retryAfterMs, 1_000)
    assert.not.ok(scene.runtime.creates.take(systemClock.now()))
    await (await scene.runtime.provision(toRequest('two'))).dispose({ sessionEnded: true })
  }))

test('two runtimes of one account share its limit on creates', () =>
  withScene(async scene => {
    const other = scene.makeRuntime()
    await Promise.all([scene.runtime.preflight(), other.preflight()])
    scene.runtime.creates.pause(systemClock.now() + 10_000)
    assert.not.ok(other.creates.take(systemClock.now()))
    await other.close()
  }))

test('a sandbox that dies by itself is told once, with the provider’s reason, and its diagnosis says so', () =>
  withScene(
    async scene => {
      await scene.runtime.preflight()
      const told: ErrorData[] = []
      let tell = () => {}
      const lost = new Promise<void>(resolve => {
        tell = resolve
      })
      const onLost = (error: ErrorData) => {
        told.push(error)
        tell()
      }
      const outcome = await provisionAny(scene, { onLost })
      await lost
      const [error] = told
      assert.is(error?.tag, 'sandbox-lost')
      assert.is(error?.transient, true)
      assert.match(error?.message ?? '', /error: The runner of this sandbox is gone/)
      const diagnosis = await scene.runtime.diagnose(outcome.id)
      assert.is(diagnosis?.tag, 'sandbox-lost')
      assert.match(diagnosis?.message ?? '', /The runner of this sandbox is gone; /)
      await outcome.dispose({ sessionEnded: false })
      assert.is(await scene.runtime.diagnose(outcome.id), undefined)
      assert.is(told.length, 1)
    },
    { emulated: { speed: 4 } },
  ))

test('whenever one dies in its making, another may be tried', () =>
  withScene(async scene => {
    await scene.runtime.preflight()
    scene.emulator.faults.set({ kind: 'lost', share: 1 })
    const doomed = Array.from({ length: 60 }, (_, index) => scene.runtime.provision(toRequest(`doomed-${index}`)))
    const ends = await Promise.allSettled(doomed)
    const failures = ends.flatMap(end => (end.status === 'rejected' ? [toErrorData(end.reason)] : []))
    assert.ok(failures.length > 30, String(failures.length))
    assert.equal(
      failures.filter(({ transient }) => transient !== true),
      [],
    )
  }))

test('a sandbox that somebody else deletes is lost, too', () =>
  withScene(async scene => {
    const lost = new Promise<ErrorData>(resolve => {
      const providing = scene.runtime.provision(toRequest('one', { onLost: resolve }))
      void providing.then(() =>
        withAccount(scene, account => callDaytona('delete', () => account.sandboxes.deleteSandbox('troupe-one'))),
      )
    })
    assert.match((await lost).message, /destroy/)
  }))

test('a sandbox whose server ends has a diagnosis with the last of its output', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime()
    const sandbox = await runtime.provision(toRequest('one'))
    await withAccount(scene, async account => {
      const dto = await look(scene, 'troupe-one')
      const processes = account.processes(dto)
      await callDaytona('run', () =>
        processes.sessionExecuteCommand('troupe', { command: 'echo out of memory; exit 3', runAsync: false }),
      )
    })
    const diagnosis = await runtime.diagnose(sandbox.id)
    assert.is(diagnosis?.tag, 'environment-died')
    assert.is(diagnosis?.transient, true)
    await runtime.close()
  }))

test('one that is disposed of is not told as lost, and one that is well has no diagnosis', () =>
  withScene(async scene => {
    const told: ErrorData[] = []
    const sandbox = await scene.runtime.provision(toRequest('one', { onLost: error => told.push(error) }))
    assert.is(await scene.runtime.diagnose(sandbox.id), undefined)
    await sandbox.dispose({ sessionEnded: true })
    assert.equal(told, [])
  }))

test('a delete is repeated past limits and faults, and one that never ends is told', () =>
  withScene(
    async scene => {
      const sandbox = await scene.runtime.provision(toRequest('one'))
      scene.emulator.faults.set({ kind: 'server-error', next: 4 })
      await sandbox.dispose({ sessionEnded: true })
      assert.is(scene.emulator.existing(), 0)
      await scene.runtime.provision(toRequest('two'))
      scene.emulator.faults.set({ kind: 'stuck-deleting', next: 1 })
      await withAccount(scene, async account => {
        const { data } = await assertRejects(
          removeSandbox(account, 'troupe-two', 100),
          'daytona-not-deleted',
          /destroying/,
        )
        assert.is(data.cause?.tag, 'daytona-wait-timeout')
      })
      const error = await assertRejects(scene.runtime.close(), 'daytona-left-behind', /troupe-two/)
      assert.equal(error.data.details?.names, ['troupe-two'])
    },
    { options: { clock: makeFasterClock(systemClock, 20) }, left: 1 },
  ))

test('a failed provision whose sandbox will not go is told, and stays until the runtime closes', () =>
  withScene(
    async scene => {
      await scene.runtime.preflight()
      scene.emulator.faults.set({ kind: 'stuck-deleting', share: 1 })
      const told: unknown[] = []
      const listen = (message: unknown) => told.push(message)
      subscribe('troupe:sandbox', listen)
      const controller = new AbortController()
      const providing = scene.runtime.provision(toRequest('one', { signal: controller.signal }))
      while (scene.emulator.counts.created === 0) await new Promise(resolve => setImmediate(resolve))
      controller.abort()
      const ended = assertRejects(providing, 'provision-cancelled')
      while (told.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
      unsubscribe('troupe:sandbox', listen)
      assert.is((told[0] as ErrorData).tag, 'daytona-not-deleted')
      await assertRejects(scene.runtime.close(), 'daytona-left-behind', /troupe-one/)
      await ended
    },
    { options: { clock: makeFasterClock(systemClock, 200) }, left: 1 },
  ))

/** One that is going to die, and has been reached before that. Those that died too early have said so. */
async function provisionAny(scene: DaytonaScene, more: Partial<ProvisionRequest>): Promise<Sandbox> {
  for (let turn = 0; ; turn += 1) {
    scene.emulator.faults.set({ kind: 'lost', next: 1 })
    try {
      return await scene.runtime.provision(toRequest(`doomed-${turn}`, more))
    } catch (error) {
      if (!hasTag(error, 'sandbox-lost') && !hasTag(error, 'daytona-sandbox-failed')) throw error
      assert.is(error.data.transient, true)
    }
  }
}

test.run()
