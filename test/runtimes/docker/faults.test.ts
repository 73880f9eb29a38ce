/** An engine that refuses, falters or goes away: what is told, and that nothing is left. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import type { ErrorData } from '../../../src/errors.ts'
import { toSandboxId } from '../../../src/ids.ts'
import { CHANNELS } from '../../../src/telemetry/channels.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'
import { containerOf, FAST, until, withScene } from './docker-scene.ts'

const test = suite('docker faults')

const CREATE = /^POST \/containers\/create/
const START = /^POST \/containers\/[^/]+\/start/
const INSPECT = /^GET \/containers\/[^/]+\/json/
const LOGS = /^GET \/containers\/[^/]+\/logs/
const REMOVE = /^DELETE /

test('a create that the engine fails may be tried again; one that it refuses may not', () =>
  withScene(async ({ runtime, standIn }) => {
    standIn.fault({ on: CREATE, answer: { status: 500, message: 'no space left on device' } })
    const failed = await assertRejects(runtime.provision(toRequest('one')), 'docker-engine-error', /no space left/)
    assert.is(failed.data.transient, true)
    standIn.fault({ on: CREATE, answer: { status: 400, message: 'invalid CPU set' } })
    const refused = await assertRejects(runtime.provision(toRequest('two')), 'docker-refused', /invalid CPU set/)
    assert.is(refused.data.transient, undefined)
    await (await runtime.provision(toRequest('three'))).dispose({ sessionEnded: false })
  }))

test('a container that has the name and is not ours is told, and not touched', () =>
  withScene(
    async scene => {
      const { docker } = await scene.openEngine()
      await docker.createContainer({ name: 'troupe-one', Image: 'environment' })
      const error = await assertRejects(
        scene.runtime.provision(toRequest('one')),
        'docker-name-taken',
        /docker rm -f troupe-one/,
      )
      assert.is(error.data.transient, true)
      assert.is(scene.standIn.requests.filter(each => REMOVE.test(each)).length, 0)
    },
    { left: ['container troupe-one, created'] },
  ))

test('a create whose answer is lost is looked for by its name, and removed', () =>
  withScene(async ({ runtime, standIn, leftovers }) => {
    standIn.fault({ on: CREATE, answer: 'cut-after' })
    const error = await assertRejects(runtime.provision(toRequest('one')), 'docker-engine-lost')
    assert.is(error.data.transient, true)
    assert.equal(leftovers(), [])
    assert.is(standIn.requests.filter(each => REMOVE.test(each)).length, 1)
  }))

test('a create that made nothing removes nobody else of that name', () =>
  withScene(
    async scene => {
      const { docker } = await scene.openEngine()
      await docker.createContainer({ name: 'troupe-one', Image: 'environment', Labels: { 'troupe.create': 'other' } })
      scene.standIn.fault({ on: CREATE, answer: 'cut' })
      await assertRejects(scene.runtime.provision(toRequest('one')), 'docker-engine-lost')
      assert.is(scene.standIn.requests.filter(each => REMOVE.test(each)).length, 0)
    },
    { left: ['container troupe-one, created'] },
  ))

test('a start that fails takes the container with it', () =>
  withScene(async ({ runtime, standIn, leftovers }) => {
    for (const answer of [{ status: 500, message: 'driver failed' }, 'cut', 'cut-after'] as const) {
      standIn.fault({ on: START, answer })
      const tag = typeof answer === 'string' ? 'docker-engine-lost' : 'docker-engine-error'
      const error = await assertRejects(runtime.provision(toRequest('one')), tag)
      assert.is(error.data.transient, true)
      assert.equal(leftovers(), [])
    }
  }))

test('an engine that does not answer is not waited for without end', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime(FAST)
    await runtime.preflight()
    scene.standIn.fault({ on: START, answer: 'mute' })
    await assertRejects(runtime.provision(toRequest('one')), 'docker-engine-silent', /within 30 s/)
    assert.equal(scene.leftovers(), [])
    await runtime.close()
  }))

test('a log that breaks off is followed again, and the container is not given up', () =>
  withScene(async scene => {
    const losses: ErrorData[] = []
    const runtime = scene.makeRuntime(FAST)
    scene.standIn.fault({ on: LOGS, answer: 'cut', times: 3 })
    const sandbox = await runtime.provision(toRequest('one', { onLost: error => losses.push(error) }))
    await until(() => scene.standIn.requests.filter(each => LOGS.test(each)).length >= 4)
    assert.equal(losses, [])
    assert.is(await runtime.diagnose(toSandboxId('one')), undefined)
    await sandbox.dispose({ sessionEnded: false })
    await runtime.close()
  }))

test('a removal that falters is tried again until it is known to be done', () =>
  withScene(async ({ runtime, standIn, leftovers }) => {
    const sandbox = await runtime.provision(toRequest('one'))
    standIn.fault({ on: REMOVE, answer: { status: 500, message: 'device or resource busy' } })
    standIn.fault({ on: REMOVE, answer: { status: 409, message: 'removal of container is already in progress' } })
    standIn.fault({ on: REMOVE, answer: 'cut' })
    await sandbox.dispose({ sessionEnded: false })
    assert.equal(leftovers(), [])
    assert.is(standIn.requests.filter(each => REMOVE.test(each)).length, 4)
  }))

test('a removal that never works is an error that names the container, and closing tries again', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime(FAST)
    const sandbox = await runtime.provision(toRequest('one'))
    scene.standIn.fault({ on: REMOVE, answer: { status: 500, message: 'busy' }, times: 1_000 })
    await assertRejects(sandbox.dispose({ sessionEnded: false }), 'docker-not-removed', /troupe-one.*busy/)
    await assertRejects(runtime.close(), 'docker-left-behind', /troupe-one.*troupe reap --runtime docker/)
    assert.is(scene.leftovers().length, 2)
    await (await scene.openEngine()).docker.getContainer('troupe-one').kill()
    scene.standIn.containers.clear()
  }))

test('a provision that fails and cannot clean up says both, and closing finishes it', () =>
  withScene(async scene => {
    const told: unknown[] = []
    const listen = (message: unknown) => told.push(message)
    subscribe(CHANNELS.sandbox, listen)
    try {
      const runtime = scene.makeRuntime({ ...FAST, command: 'exit 4' })
      await runtime.preflight()
      scene.standIn.fault({ on: REMOVE, answer: { status: 500, message: 'busy' }, times: 25 })
      await assertRejects(runtime.provision(toRequest('one')), 'environment-not-serving', /exit code 4/)
      assert.match(JSON.stringify(told), /docker-not-removed/)
      await runtime.close()
      assert.equal(scene.leftovers(), [])
    } finally {
      unsubscribe(CHANNELS.sandbox, listen)
    }
  }))

test('an engine that goes away takes no sandbox with it that still serves, and finds it again', () =>
  withScene(async scene => {
    const losses: ErrorData[] = []
    const runtime = scene.makeRuntime(FAST)
    const sandbox = await runtime.provision(toRequest('one', { onLost: error => losses.push(error) }))
    await scene.standIn.stop()
    await assertRejects(runtime.provision(toRequest('two')), 'docker-no-engine')
    await scene.standIn.restart()
    const asked = scene.standIn.requests.length
    await until(() => scene.standIn.requests.slice(asked).some(each => LOGS.test(each)))
    assert.equal(losses, [])
    await sandbox.dispose({ sessionEnded: false })
    await runtime.close()
  }))

test('an engine that stays away loses its sandboxes, and closing names what may be left', () =>
  withScene(async scene => {
    let lose: (error: ErrorData) => void = () => {}
    const lost = new Promise<ErrorData>(resolve => {
      lose = resolve
    })
    const runtime = scene.makeRuntime(FAST)
    await runtime.provision(toRequest('one', { onLost: error => lose(error) }))
    await scene.standIn.stop()
    assert.match((await lost).message, /cannot be seen any more.*no Docker engine answers/)
    assert.is((await runtime.diagnose(toSandboxId('one')))?.tag, 'sandbox-lost')
    await assertRejects(runtime.close(), 'docker-left-behind', /troupe-one/)
    containerOf(scene).process?.kill()
    await containerOf(scene).process?.exited
    scene.standIn.containers.clear()
  }))

test('a look that fails once is no loss', () =>
  withScene(async scene => {
    const losses: ErrorData[] = []
    const runtime = scene.makeRuntime(FAST)
    const sandbox = await runtime.provision(toRequest('one', { onLost: error => losses.push(error) }))
    scene.standIn.fault({ on: INSPECT, answer: { status: 500, message: 'later' }, times: 2 })
    scene.standIn.fault({ on: LOGS, answer: 'cut' })
    for (const follow of containerOf(scene).followers) follow(undefined)
    await until(() => scene.standIn.requests.filter(each => LOGS.test(each)).length >= 3)
    assert.equal(losses, [])
    await sandbox.dispose({ sessionEnded: false })
    await runtime.close()
  }))

test.run()
