/** What rows ask of their containers, over a stand-in for an engine. */
import * as assert from 'uvu/assert'
import type { ErrorData } from '../../../src/errors.ts'
import type { RuntimeConfig } from '../../../src/taskset/runtime-config.ts'
import type { Task } from '../../../src/taskset/task.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { suite } from '../../support/suite.ts'
import { failure } from '../../wire/support/failure.ts'
import { containerOf, FAST, withScene } from './docker-scene.ts'
import { imageOf } from './stand-in-images.ts'

const test = suite('docker: what rows ask for')

const taskOf = (config?: RuntimeConfig): Task => ({
  env: 'fixture',
  id: 'echo',
  args: {},
  slug: 'echo',
  ...(config === undefined ? {} : { runtime_config: config }),
})

const bodyOf = (scene: Parameters<typeof containerOf>[0]) => containerOf(scene).body

test('a row’s image and resources are its container’s, over the runtime’s own, and another row has the runtime’s', () =>
  withScene(
    async scene => {
      scene.standIn.registry.set('ghcr.io/us/calc:2', imageOf('environment-host'))
      const config = { image: 'ghcr.io/us/calc:2', resources: { cpu: 0.5, gpu: { count: 2 } } }
      await scene.runtime.preflight({ sandboxes: 2, providerPool: false, tasks: [taskOf(config)] })
      const pulled = scene.standIn.requests.filter(request => request.startsWith('POST /images/create'))
      assert.is(pulled.length, 1, 'it is there before the first sandbox')
      const own = await scene.runtime.provision(toRequest('own', { task: taskOf(config) }))
      const { Image, HostConfig } = bodyOf(scene)
      assert.is(Image, scene.standIn.images.get('ghcr.io/us/calc:2')?.id)
      assert.equal([HostConfig?.NanoCpus, HostConfig?.Memory], [5e8, 64 * 1024 ** 2])
      assert.equal(HostConfig?.DeviceRequests, [{ Driver: '', Count: 2, Capabilities: [['gpu']] }])
      assert.equal(
        (await scene.runtime.list()).map(({ id }) => id),
        ['own'],
      )
      await own.dispose({ sessionEnded: true })
      const plain = await scene.runtime.provision(toRequest('plain', { task: taskOf() }))
      assert.equal([bodyOf(scene).HostConfig?.NanoCpus, bodyOf(scene).HostConfig?.DeviceRequests], [2e9, undefined])
      await plain.dispose({ sessionEnded: true })
    },
    { options: { memoryBytes: 64 * 1024 ** 2, cpus: 2 } },
  ))

test('where every task names its image, the runtime needs none of its own', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ dockerfile: '/nowhere/Dockerfile.hud' })
    const tasks = [taskOf({ image: 'environment' })]
    await runtime.preflight({ sandboxes: 1, providerPool: false, tasks })
    const [task] = tasks
    const sandbox = await runtime.provision(toRequest('one', { task }))
    await sandbox.dispose({ sessionEnded: true })
    assert.is((await failure(runtime.preflight())).tag, 'dockerfile-missing')
    await runtime.close()
  }))

test('an image that there is not is told before anything is started', () =>
  withScene(async scene => {
    const tasks = [taskOf({ image: 'nobody/knows:1' })]
    const error = await failure(scene.runtime.preflight({ sandboxes: 1, providerPool: false, tasks }))
    assert.is(error.tag, 'docker-pull-failed')
    assert.match(error.message, /nobody\/knows:1/)
    assert.is(scene.standIn.containers.size, 0)
  }))

test('what an engine cannot do is told of each field, and what it can is the effective configuration', () =>
  withScene(async ({ makeRuntime }) => {
    const runtime = makeRuntime({ cpus: 2 })
    for (const [config, words] of [
      [{ compose: {} }, /runtime_config\.compose: Compose projects are not started/],
      [{ resources: { gpu: { type: 'H100', count: 1 } } }, /gpu\.type: an engine cannot choose/],
      [{ resources: { os: 'windows' } }, /resources\.os: containers are Linux/],
      [{ resources: { tpu: { type: 'v5e', topology: '2x4' } } }, /resources\.tpu: a container has none/],
      [{ resources: { memory_mb: 1 } }, /memory_mb: an engine gives 6 at the least/],
      [{ image: 'two words' }, /runtime_config\.image: is no image's name/],
    ] as const) {
      const { problems } = runtime.configure(taskOf(config))
      assert.is(problems.length, 1)
      assert.match(problems.join(), words)
    }
    const fine = runtime.configure(taskOf({ resources: { memory_mb: 512 }, limits: { run_timeout_s: 60 } }))
    assert.equal(fine, {
      config: { image: 'environment', resources: { cpu: 2, memory_mb: 512 }, limits: { run_timeout_s: 60 } },
      problems: [],
    })
    assert.is(runtime.kindOf(taskOf({ resources: {} })), undefined)
    assert.is.not(runtime.kindOf(taskOf({ image: 'a' })), runtime.kindOf(taskOf({ image: 'b' })))
    await runtime.close()
  }))

test('a container with less free disk than its row asks for is not handed out', () =>
  withScene(async ({ runtime, standIn }) => {
    const enough = await runtime.provision(toRequest('enough', { task: taskOf({ resources: { storage_mb: 1 } }) }))
    await enough.dispose({ sessionEnded: true })
    const wanted = taskOf({ resources: { storage_mb: 2 ** 40 } })
    const error = await failure(runtime.provision(toRequest('more', { task: wanted })))
    assert.equal([error.tag, error.data.transient], ['docker-disk-full', undefined])
    assert.match(error.message, /storage_mb asks for 1099511627776 MiB/)
    assert.is(standIn.containers.size, 0)
  }))

test('a container is ended when its row’s time is over, and its lessee is told', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime(FAST)
    let lost: (error: ErrorData) => void = () => {}
    const told = new Promise<ErrorData>(resolve => {
      lost = resolve
    })
    const task = taskOf({ limits: { run_timeout_s: 20 } })
    const sandbox = await runtime.provision(toRequest('short', { task, onLost: lost }))
    assert.is((await told).tag, 'run-limit')
    await sandbox.dispose({ sessionEnded: false })
    assert.is(scene.standIn.containers.size, 0)
    await runtime.close()
  }))

test('a row’s limit on the start is its own', () =>
  withScene(async scene => {
    scene.host.behave({ silent: true })
    const runtime = scene.makeRuntime(FAST)
    const task = taskOf({ limits: { startup_timeout_s: 10 } })
    const error = await failure(runtime.provision(toRequest('slow', { task })))
    assert.equal([error.tag, error.data.details?.deadlineMs], ['environment-not-reachable', 10_000])
    await runtime.close()
  }))

test.run()
