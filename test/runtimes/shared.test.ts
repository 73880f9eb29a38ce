import * as assert from 'uvu/assert'
import type { ErrorData } from '../../src/errors.ts'
import { toSandboxId } from '../../src/ids.ts'
import { SharedRuntime } from '../../src/runtimes/shared.ts'
import { SubprocessRuntime } from '../../src/runtimes/subprocess.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { hostProgram, openHostScene } from './fixtures/host-scene.ts'

const test = suite('shared runtime')

async function openShared(leases = 3) {
  const scene = await openHostScene()
  const inner = new SubprocessRuntime([process.execPath, hostProgram, scene.environmentPath, '--port', '0'])
  return {
    runtime: new SharedRuntime(inner, leases),
    scene,
    leftovers: () => scene.leftovers(),
    end: () => scene.end(),
  }
}

runtimeContract(test, () => openShared())

test('all leases share one substrate, and the next one waits for a place', async () => {
  const { runtime, scene, end } = await openShared(2)
  const [one, two] = await Promise.all([runtime.provision(toRequest('one')), runtime.provision(toRequest('two'))])
  assert.equal(one?.address, two?.address)
  let third = false
  const waiting = runtime.provision(toRequest('three')).then(sandbox => {
    third = true
    return sandbox
  })
  const controller = new AbortController()
  const withdrawn = runtime.provision(toRequest('four', { signal: controller.signal }))
  controller.abort()
  assert.is((await failure(withdrawn)).tag, 'provision-cancelled')
  assert.is(third, false)
  await one?.dispose({ sessionEnded: true })
  await one?.dispose({ sessionEnded: true })
  await waiting
  assert.is((await runtime.list()).length, 2)
  assert.is(scene.pids().length, 1)
  await runtime.close()
  assert.equal(scene.leftovers(), [])
  await end()
})

test('when the substrate dies every lease is lost, and the next one gets a new substrate', async () => {
  const { runtime, scene, end } = await openShared(2)
  const losses = ['one', 'two'].map(id => {
    let onLost: (error: ErrorData) => void = () => {}
    const lost = new Promise<ErrorData>(resolve => {
      onLost = resolve
    })
    return { lost, sandbox: runtime.provision(toRequest(id, { onLost })) }
  })
  const sandboxes = await Promise.all(losses.map(({ sandbox }) => sandbox))
  process.kill(scene.pids()[0] ?? 0, 'SIGKILL')
  for (const { lost } of losses) assert.is((await lost).tag, 'sandbox-lost')
  for (const sandbox of sandboxes) await sandbox.dispose({ sessionEnded: false })
  await runtime.provision(toRequest('three'))
  assert.is(scene.pids().length, 2)
  await runtime.close()
  assert.equal(scene.leftovers(), [])
  await end()
})

test('what the inner runtime knows is passed on: of tasks, of its one sandbox, and of what it would need', async () => {
  const inner = new FakeRuntime()
  const asked: string[] = []
  inner.diagnose = async id => {
    asked.push(id)
    return { tag: 'sandbox-lost', message: 'out of memory' }
  }
  const runtime = new SharedRuntime(Object.assign(inner, { checkTasks: async () => ['no such template'] }), 4)
  await runtime.preflight({ sandboxes: 64, providerPool: true })
  await runtime.preflight()
  assert.equal(inner.plans, [{ sandboxes: 1, providerPool: false }, undefined])
  assert.equal(await runtime.checkTasks?.([]), ['no such template'])
  await runtime.provision(toRequest('one', { prewarm: false }))
  assert.is((await runtime.diagnose?.(toSandboxId('one')))?.message, 'out of memory')
  assert.equal(asked, [...inner.existing])
  assert.is(await runtime.diagnose?.(toSandboxId('nobody')), undefined)
  await runtime.close()
  const silent = new SharedRuntime(new FakeRuntime(), 4)
  assert.equal([silent.diagnose, silent.checkTasks], [undefined, undefined], 'nobody waits for what is not known')
})

test('a number of leases that cannot be is refused', () => {
  for (const leases of [0, -1, 1.5]) assert.throws(() => new SharedRuntime(new SubprocessRuntime(['true']), leases))
})

test.run()
