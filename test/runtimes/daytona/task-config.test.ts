/** What rows ask of their sandboxes, on the emulated provider. */
import * as assert from 'uvu/assert'
import type { ErrorData } from '../../../src/errors.ts'
import { toSandboxId } from '../../../src/ids.ts'
import { DaytonaRuntime } from '../../../src/runtimes/daytona/daytona-runtime.ts'
import { toCreateBody, toNewSandbox } from '../../../src/runtimes/daytona/sandbox/new-sandbox.ts'
import { toDaytonaSettings } from '../../../src/runtimes/daytona/settings.ts'
import { toTaskSettings } from '../../../src/runtimes/daytona/task-settings.ts'
import type { RuntimeConfig } from '../../../src/taskset/runtime-config.ts'
import type { Task } from '../../../src/taskset/task.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { suite } from '../../support/suite.ts'
import { look, SNAPSHOT, withAccount, withScene } from './daytona-scene.ts'

const test = suite('daytona: what rows ask for')

const taskOf = (config?: RuntimeConfig): Task => ({
  env: 'fixture',
  id: 'echo',
  args: {},
  slug: 'echo',
  ...(config === undefined ? {} : { runtime_config: config }),
})

test('a row’s resources are its sandbox’s, rounded up to whole GiB, and another row has the snapshot’s', () =>
  withScene(async scene => {
    const { runtime } = scene
    const task = taskOf({ resources: { cpu: 2, memory_mb: 3_000, storage_mb: 6_000 } })
    const own = await runtime.provision(toRequest('own', { task }))
    const { cpu, memory, disk, snapshot } = await look(scene, 'troupe-own')
    assert.equal([cpu, memory, disk, snapshot], [2, 3, 6, SNAPSHOT])
    const plain = await runtime.provision(toRequest('plain', { task: taskOf() }))
    assert.is.not((await look(scene, 'troupe-plain')).memory, 3)
    await own.dispose({ sessionEnded: true })
    await plain.dispose({ sessionEnded: true })
  }))

test('a row’s image becomes a snapshot of its own before anything is started, once for each size', () =>
  withScene(async scene => {
    const { runtime } = scene
    const image = 'ghcr.io/us/calc:2'
    const tasks = [taskOf({ image }), taskOf({ image }), taskOf({ image, resources: { cpu: 2 } })]
    await runtime.preflight({ sandboxes: 1, providerPool: false, tasks })
    const names = await withAccount(scene, async ({ snapshots }) =>
      (await snapshots.getAllSnapshots()).data.items.map(({ name }) => name).filter(name => name !== SNAPSHOT),
    )
    assert.equal(names.map(name => name.replace(/-[0-9a-f]{12}$/, '')).sort(), [
      'troupe-image-ghcr.io-us-calc-2',
      'troupe-image-ghcr.io-us-calc-2-2cpu',
    ])
    const sandbox = await runtime.provision(toRequest('own', { task: tasks[2] }))
    assert.match((await look(scene, 'troupe-own')).snapshot ?? '', /calc-2-2cpu-/)
    assert.equal(
      (await runtime.list()).map(({ id }) => id),
      ['own'],
    )
    await sandbox.dispose({ sessionEnded: true })
  }))

test('what the provider cannot do is told of each field', () =>
  withScene(async ({ emulator, runtime }) => {
    for (const [config, words] of [
      [{ compose: {} }, /runtime_config\.compose/],
      [{ resources: { cpu: 1.5 } }, /resources\.cpu: the provider gives whole CPUs/],
      [{ resources: { gpu: { type: 'A100', count: 1 } } }, /gpu\.type: A100 is none of H100/],
      [{ resources: { os: 'linux' } }, /resources\.os/],
      [{ resources: { tpu: { type: 'v5e', topology: '2x4' } } }, /resources\.tpu/],
    ] as const)
      assert.match(runtime.configure(taskOf(config)).problems.join('\n'), words)
    const mute = new DaytonaRuntime(SNAPSHOT, { apiUrl: emulator.url, apiKey: emulator.apiKey })
    assert.match(mute.configure(taskOf({ image: 'x' })).problems.join(), /give the runtime its `command`/)
    assert.equal(runtime.configure(taskOf({ image: 'x', limits: { run_timeout_s: 5 } })).problems, [])
    await mute.close()
  }))

test('GPUs are asked for as the provider calls them', () => {
  const settings = toDaytonaSettings('s', { resources: { cpu: 1 } })
  const task = taskOf({ resources: { gpu: { type: ['H100', 'RTX-4090'], count: 2 } } })
  const { resources } = toTaskSettings(settings, task)
  const kind = { snapshot: 's', region: undefined, autoStopMinutes: 15, resources }
  const body = toCreateBody(toNewSandbox({ id: toSandboxId('x'), labels: {} }, kind, 0))
  assert.equal([body.cpu, body.gpu, body.gpuType], [1, 2, ['H100', 'RTX-4090']])
})

test('a sandbox is ended when its row’s time is over, and its lessee is told', () =>
  withScene(async scene => {
    let lost: (error: ErrorData) => void = () => {}
    const told = new Promise<ErrorData>(resolve => {
      lost = resolve
    })
    const task = taskOf({ limits: { run_timeout_s: 1 } })
    const sandbox = await scene.runtime.provision(toRequest('short', { task, onLost: lost }))
    assert.is((await told).tag, 'run-limit')
    await sandbox.dispose({ sessionEnded: false })
    assert.is(scene.emulator.existing(), 0)
  }))

test.run()
