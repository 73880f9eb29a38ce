import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { ErrorData } from '../../src/errors.ts'
import { LocalRuntime, type LocalRuntimeOptions } from '../../src/runtimes/local.ts'
import type { Task } from '../../src/taskset/task.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { type HostScene, hostProgram, openHostScene } from './fixtures/host-scene.ts'

const test = suite('local runtime')

async function openLocal(options: LocalRuntimeOptions = {}) {
  const scene = await openHostScene()
  const runtime = new LocalRuntime(scene.environmentPath, { hostProgram, ...options })
  return { runtime, leftovers: () => scene.leftovers(), end: () => scene.end() }
}

async function withScene(body: (scene: HostScene) => Promise<void>): Promise<void> {
  const scene = await openHostScene()
  try {
    await body(scene)
    assert.equal(scene.leftovers(), [])
  } finally {
    await scene.end()
  }
}

runtimeContract(test, () => openLocal())
runtimeContract(test, () => openLocal({ transport: 'tcp' }))

test('one host serves all, however many ask at once', () =>
  withScene(async scene => {
    const runtime = new LocalRuntime(scene.environmentPath, { hostProgram })
    await Promise.all(Array.from({ length: 20 }, (_, index) => runtime.provision(toRequest(`sandbox-${index}`))))
    assert.is(scene.pids().length, 1)
    await runtime.close()
  }))

test('a host that dies loses its sandboxes, and the next request starts another, a bounded number of times', () =>
  withScene(async scene => {
    const runtime = new LocalRuntime(scene.environmentPath, { hostProgram, restarts: 1 })
    for (const round of [0, 1]) {
      let onLost: (error: ErrorData) => void = () => {}
      const lost = new Promise<ErrorData>(resolve => {
        onLost = resolve
      })
      const sandbox = await runtime.provision(toRequest(`sandbox-${round}`, { prewarm: true, onLost }))
      process.kill(scene.pids()[round] ?? 0, 'SIGKILL')
      const error = await lost
      assert.is(error.tag, 'sandbox-lost')
      assert.is(error.transient, true)
      await sandbox.dispose({ sessionEnded: false })
    }
    const given = await failure(runtime.provision(toRequest('late')))
    assert.is(given.tag, 'environment-host-failing')
    assert.is(scene.pids().length, 2)
    await runtime.close()
  }))

test('what the host reports at its start arrives as it was', () =>
  withScene(async scene => {
    scene.behave({
      error: { tag: 'bwrap-missing', message: 'bubblewrap is not installed', details: { tried: ['bwrap'] } },
    })
    const runtime = new LocalRuntime(scene.environmentPath, { hostProgram })
    const error = await failure(runtime.preflight())
    assert.is(error.tag, 'bwrap-missing')
    assert.equal(error.data.details, { tried: ['bwrap'] })
    scene.behave({})
    await runtime.preflight()
    await runtime.close()
  }))

test('a host that breaks says so with the end of its stderr', () =>
  withScene(async scene => {
    scene.behave({ broken: true })
    const runtime = new LocalRuntime(scene.environmentPath, { hostProgram })
    assert.match((await failure(runtime.provision(toRequest('one')))).message, /ended with exit code 1.*no such luck/s)
    await runtime.close()
  }))

test(
  'a host that never serves is ended at its deadline',
  () =>
    withScene(async scene => {
      scene.behave({ silent: true })
      const runtime = new LocalRuntime(scene.environmentPath, { hostProgram, startDeadlineMs: 500 })
      assert.is((await failure(runtime.provision(toRequest('one')))).tag, 'serve-timeout')
      await runtime.close()
    }),
  { deadlineMs: 15_000 },
)

test('the host inherits none of the secrets of this process', () =>
  withScene(async scene => {
    const variables = join(scene.directory, 'variables')
    scene.behave({ variables })
    process.env.A_SECRET_KEY = 'secret'
    const runtime = new LocalRuntime(scene.environmentPath, { hostProgram, variables: { CALC_SEED: '1' } })
    await runtime.preflight()
    await runtime.close()
    delete process.env.A_SECRET_KEY
    const seen = JSON.parse(readFileSync(variables, 'utf8'))
    assert.equal(
      Object.keys(seen).filter(name => !['PATH', 'HOME', 'LANG', 'TMPDIR'].includes(name)),
      ['CALC_SEED'],
    )
  }))

test('an environment file that is not there is named before anything is started', () =>
  withScene(async scene => {
    const runtime = new LocalRuntime(join(scene.directory, 'nowhere.ts'), { hostProgram })
    assert.is((await failure(runtime.preflight())).tag, 'environment-missing')
    assert.is(scene.pids().length, 0)
    await runtime.close()
  }))

test('tasks that its environment would refuse are named all at once, before a host is started', async () => {
  const runtime = new LocalRuntime(fileURLToPath(new URL('../../../environments/arith/env.ts', import.meta.url)))
  const task = (row: Partial<Task>): Task => ({ env: 'arith', id: 'add', args: { a: 1, b: 2 }, slug: 'good', ...row })
  const problems = await runtime.checkTasks([
    task({}),
    task({ slug: 'foreign', env: 'calc' }),
    task({ slug: 'unknown', id: 'multiply' }),
    task({ slug: 'bad', args: { a: 'one' } }),
  ])
  assert.equal(
    problems.map(problem => problem.split(':')[0]),
    ['foreign', 'unknown', 'bad', 'bad'],
  )
  await runtime.close()
})

test.run()
