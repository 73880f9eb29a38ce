import * as assert from 'uvu/assert'
import { type ErrorData, TroupeError, toErrorData } from '../../src/errors.ts'
import { toSandboxId } from '../../src/ids.ts'
import { withRunLimit } from '../../src/runtimes/run-limit.ts'
import { SharedRuntime } from '../../src/runtimes/shared.ts'
import { SubprocessRuntime } from '../../src/runtimes/subprocess.ts'
import type { Task } from '../../src/taskset/task.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
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

test('tasks that ask for different sandboxes share none, and each kind has places of its own', async () => {
  const inner = Object.assign(new FakeRuntime(), { kindOf: (task: Task) => task.runtime_config?.image })
  const runtime = new SharedRuntime(inner, 2)
  const taskOf = (image?: string): Task => ({
    env: 'e',
    id: 't',
    args: {},
    slug: 's',
    ...(image === undefined ? {} : { runtime_config: { image } }),
  })
  const make = (id: string, task: Task) => runtime.provision(toRequest(id, { task }))
  const sandboxes = await Promise.all([
    make('a1', taskOf('a')),
    make('a2', taskOf('a')),
    make('b1', taskOf('b')),
    make('none', taskOf()),
  ])
  assert.is(inner.requests.length, 3)
  assert.equal(
    inner.requests.map(({ task }) => task?.runtime_config?.image),
    ['a', 'b', undefined],
  )
  const [one, two, three] = sandboxes.map(({ address }) => address)
  assert.equal(one, two)
  assert.not.equal(one, three)
  // Two are on a; b has a place left.
  let third = false
  const waiting = make('a3', taskOf('a')).then(() => {
    third = true
  })
  await make('b2', taskOf('b'))
  assert.is(third, false)
  await sandboxes[0]?.dispose({ sessionEnded: true })
  await waiting
  await runtime.preflight({ sandboxes: 64, providerPool: true, tasks: [taskOf('a'), taskOf('a'), taskOf()] })
  assert.is(inner.plans.at(-1)?.sandboxes, 2)
  await runtime.close()
  assert.is(inner.existing.size, 0)
})

test('a start that fails fails the lease that asked for it alone; whoever waited tries in turn', async () => {
  const inner = new FakeRuntime()
  const runtime = new SharedRuntime(inner, 3)
  inner.immediate = false
  const make = inner.provision.bind(inner)
  let starts = 0
  inner.provision = async request => {
    starts += 1
    const isFirst = starts === 1
    const sandbox = await make(request)
    if (!isFirst) return sandbox
    await sandbox.dispose({ sessionEnded: false })
    throw new TroupeError({ tag: 'boot-failed', message: 'no disk' })
  }
  const ends = ['one', 'two', 'three'].map(id => runtime.provision(toRequest(id)).then(() => 'made', toErrorData))
  await settle()
  inner.finish()
  await settle()
  inner.finish()
  const [first, ...others] = await Promise.all(ends)
  assert.is(typeof first === 'object' && first.tag, 'boot-failed')
  assert.equal([others, starts], [['made', 'made'], 2])
  await runtime.close()
  assert.is(inner.existing.size, 0)
})

test('whoever no longer waits for the start is let go, and the start goes on for the others', async () => {
  const inner = new FakeRuntime()
  inner.immediate = false
  const runtime = new SharedRuntime(inner, 2)
  const leaving = new AbortController()
  const gone = runtime.provision(toRequest('gone', { signal: leaving.signal }))
  const stays = runtime.provision(toRequest('stays'))
  await settle()
  leaving.abort(new Error('not wanted'))
  assert.is((await failure(gone)).tag, 'provision-cancelled')
  inner.finish()
  await stays
  assert.equal([inner.requests.length, (await runtime.list()).length], [1, 1])
  await runtime.close()
  assert.is(inner.existing.size, 0)
})

test('a substrate whose time is over is lost to all its leases, and the next one is another', async () => {
  const inner = new FakeRuntime()
  const clock = new VirtualClock()
  const make = inner.provision.bind(inner)
  inner.provision = request => withRunLimit(request, { clock, limitS: 60 }, make)
  const runtime = new SharedRuntime(inner, 2)
  const losses: string[] = []
  const lease = (id: string) => runtime.provision(toRequest(id, { onLost: ({ tag }) => losses.push(`${id} ${tag}`) }))
  const [one] = await Promise.all([lease('one'), lease('two')])
  await clock.advance(60_000)
  await settle()
  assert.equal(losses, ['one run-limit', 'two run-limit'])
  assert.is(inner.existing.size, 0)
  await one?.dispose({ sessionEnded: false })
  await lease('three')
  assert.is(inner.requests.length, 2)
  await runtime.close()
  assert.equal([inner.existing.size, losses.length], [0, 2])
})

test('a number of leases that cannot be is refused', () => {
  for (const leases of [0, -1, 1.5]) assert.throws(() => new SharedRuntime(new SubprocessRuntime(['true']), leases))
})

test.run()
