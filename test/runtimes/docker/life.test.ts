/** A container from its create to its end. */
import * as assert from 'uvu/assert'
import type { ErrorData } from '../../../src/errors.ts'
import { toSandboxId } from '../../../src/ids.ts'
import { toOwnerWord } from '../../../src/owner.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'
import { containerOf, withScene } from './docker-scene.ts'
import { imageOf } from './stand-in-images.ts'

const test = suite('docker container')

function loss(): { readonly lost: Promise<ErrorData>; readonly onLost: (error: ErrorData) => void } {
  let onLost: (error: ErrorData) => void = () => {}
  const lost = new Promise<ErrorData>(resolve => {
    onLost = resolve
  })
  return { lost, onLost }
}

test('it is made as the options say: limits, network, labels, and a port of 127.0.0.1 that the engine chooses', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({
      memoryBytes: 64 * 1024 ** 2,
      cpus: 0.5,
      pids: 99,
      network: 'rollouts',
      variables: { SEED: '7' },
    })
    const labels = { job: 'job-1', run: 'run-1', owner: 'somebody', expiry: '2030-01-01T00:00:00.000Z' }
    const { address } = await runtime.provision(toRequest('one', { labels }))
    const { body, name, process: running } = containerOf(scene)
    assert.is(name, 'troupe-one')
    assert.equal(address, { kind: 'tcp', host: '127.0.0.1', port: running?.hostPort })
    const { 'troupe.create': create, ...rest } = body.Labels ?? {}
    assert.match(create ?? '', /^[0-9a-f]{16}$/)
    assert.equal(rest, {
      'troupe.job': 'job-1',
      'troupe.run': 'run-1',
      'troupe.owner': 'somebody',
      'troupe.expiry': labels.expiry,
      'troupe.sandbox': 'one',
    })
    assert.equal(body.Env, ['SEED=7'])
    assert.equal(body.HostConfig, {
      PortBindings: { '8765/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
      PidsLimit: 99,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '8m', 'max-file': '1' } },
      Memory: 64 * 1024 ** 2,
      MemorySwap: 64 * 1024 ** 2,
      NanoCpus: 5e8,
      NetworkMode: 'rollouts',
    })
    await runtime.close()
  }))

test('with a token the server is told it and each connection shows it, another for each runtime', () =>
  withScene(async scene => {
    const tokens: (string | undefined)[] = []
    for (const id of ['one', 'two']) {
      const runtime = scene.makeRuntime({ withToken: true, variables: { SEED: '7' } })
      const { address } = await runtime.provision(toRequest(id))
      assert.equal(containerOf(scene).body.Env, ['SEED=7', `TROUPE_SERVE_TOKEN=${address.token}`])
      tokens.push(address.token)
      await runtime.close()
    }
    assert.match(tokens[0] ?? '', /^[0-9a-f]{48}$/)
    assert.is.not(tokens[0], tokens[1])
  }))

test('profiles are lifted for what is asked to make namespaces, and for nothing else', () =>
  withScene(async scene => {
    for (const namespaces of [true, false]) {
      const runtime = scene.makeRuntime({ namespaces })
      await runtime.provision(toRequest('one'))
      const { SecurityOpt, MaskedPaths, ReadonlyPaths } = containerOf(scene).body.HostConfig ?? {}
      assert.equal(
        [SecurityOpt, MaskedPaths, ReadonlyPaths],
        namespaces ? [['seccomp=unconfined', 'apparmor=unconfined'], [], []] : [undefined, undefined, undefined],
      )
      await runtime.close()
    }
  }))

test('without an owner among the labels it has this process, so that it can be reaped', () =>
  withScene(async scene => {
    await scene.runtime.provision(toRequest('one'))
    assert.is(containerOf(scene).body.Labels?.['troupe.owner'], toOwnerWord())
    assert.equal(
      (await scene.runtime.list()).map(({ labels }) => labels.job),
      ['contract'],
    )
  }))

test('a sandbox is given out only once its environment has answered, however long that takes to start', () =>
  withScene(async scene => {
    const late = 'sleep 0.4; exec environment-host'
    const runtime = scene.makeRuntime({ command: late })
    const sandbox = await runtime.provision(toRequest('one', { prewarm: true }))
    assert.type(sandbox.sessionId, 'string')
    const { body } = containerOf(scene)
    assert.equal([body.Entrypoint, body.Cmd, body.HostConfig?.Init], [['/bin/sh', '-c', late], [], true])
    await runtime.close()
  }))

test('one that ends at once is told with its exit code and the end of its log, and is removed', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ command: 'echo starting; echo no such luck >&2; exit 3' })
    const error = await assertRejects(runtime.provision(toRequest('one')), 'environment-not-serving', /exit code 3/)
    assert.match(error.message, /starting/)
    assert.match(error.message, /no such luck/)
    assert.is(error.data.transient, undefined)
    assert.equal(scene.leftovers(), [])
    await runtime.close()
  }))

test('one that is killed as it starts may be tried again', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ command: 'kill -9 $$' })
    const error = await assertRejects(runtime.provision(toRequest('one')), 'environment-not-serving', /137/)
    assert.is(error.data.transient, true)
    await runtime.close()
  }))

test('one that never answers is removed at its deadline, and told with what it wrote', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ command: 'echo still warming up; exec sleep 600', startDeadlineMs: 500 })
    await assertRejects(
      runtime.provision(toRequest('one')),
      'environment-not-reachable',
      /port 8765.*within 500 ms.*still warming up.*--host 0\.0\.0\.0/s,
    )
    assert.equal(scene.leftovers(), [])
    await runtime.close()
  }))

test('one that dies while it serves is lost, with the end of its log; one that is disposed of is not', () =>
  withScene(async scene => {
    const { lost, onLost } = loss()
    const losses: ErrorData[] = []
    const runtime = scene.makeRuntime({ command: 'echo serving well; exec environment-host' })
    const first = await runtime.provision(toRequest('one', { onLost }))
    const second = await runtime.provision(toRequest('two', { onLost: error => losses.push(error) }))
    assert.is(await runtime.diagnose(toSandboxId('one')), undefined)
    const dying = containerOf(scene, 'troupe-one')
    dying.oomKilled = true
    dying.process?.kill()
    const error = await lost
    assert.is(error.tag, 'sandbox-lost')
    assert.is(error.transient, true)
    assert.match(error.message, /exit code 137, killed for want of memory.*serving well/s)
    assert.equal(await runtime.diagnose(toSandboxId('one')), error)
    await Promise.all([first.dispose({ sessionEnded: false }), second.dispose({ sessionEnded: false })])
    assert.equal(losses, [])
    await runtime.close()
  }))

test('one that somebody else removes is lost, and disposing of it is no error', () =>
  withScene(async scene => {
    const { lost, onLost } = loss()
    const sandbox = await scene.runtime.provision(toRequest('one', { onLost }))
    const engine = await scene.openEngine()
    await engine.docker.getContainer('troupe-one').remove({ force: true })
    assert.match((await lost).message, /removed by somebody else|exit code 137/)
    await sandbox.dispose({ sessionEnded: false })
  }))

test('a create that is called off half-way leaves no container', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ command: 'exec sleep 600' })
    const controller = new AbortController()
    const making = runtime.provision(toRequest('one', { signal: controller.signal }))
    while (scene.standIn.containers.size === 0) await new Promise(resolve => setImmediate(resolve))
    controller.abort()
    await assertRejects(making, 'provision-cancelled')
    assert.equal(scene.leftovers(), [])
    await runtime.close()
  }))

test('closing calls off what is being made', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ command: 'exec sleep 600' })
    const making = runtime.provision(toRequest('one'))
    while (scene.standIn.containers.size === 0) await new Promise(resolve => setImmediate(resolve))
    await Promise.all([runtime.close(), assertRejects(making, 'runtime-closed')])
    assert.equal(scene.leftovers(), [])
  }))

test('a network that publishes nothing is named', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ network: 'internal' })
    await assertRejects(runtime.provision(toRequest('one')), 'docker-port-not-published', /the network internal/)
    await runtime.close()
  }))

test('an image without a command is refused by the preflight, unless one is given', () =>
  withScene(async scene => {
    scene.standIn.images.set('bare:latest', imageOf())
    const bare = scene.makeRuntime({ image: 'bare' })
    await assertRejects(bare.preflight(), 'docker-no-command', /bare has no command/)
    await bare.close()
    const told = scene.makeRuntime({ image: 'bare', command: 'exec environment-host' })
    await told.preflight()
    await told.close()
    assert.is(scene.standIn.requests.filter(each => each.includes('create')).length, 0)
  }))

test.run()
