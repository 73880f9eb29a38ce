import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { HoldingClock } from './support/holding-clock.ts'
import { call, create, until, withEmulator } from './support/http.ts'

const test = suite('emulator faults of single calls')

const SPEED = 200

test('any other call can be reset, and what it asked for is done all the same', () =>
  withEmulator({}, async emulator => {
    const { id } = (await create(emulator)).body
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
    emulator.faults.set({ kind: 'reset', next: 1 })
    const opened = call(emulator, 'POST', `/toolbox/${id}/process/session`, { sessionId: 's' })
    assert.is(
      await opened.then(
        () => 'answered',
        () => 'reset',
      ),
      'reset',
    )
    assert.is((await call(emulator, 'POST', `/toolbox/${id}/process/session`, { sessionId: 's' })).status, 409)
    assert.is((await create(emulator)).status, 200, 'creates have a fault of their own')
  }))

test('a fork can be reset like a create, and its child exists', () =>
  withEmulator({}, async emulator => {
    const { id } = (await create(emulator)).body
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
    emulator.faults.set({ kind: 'reset-create', next: 1 })
    const forked = call(emulator, 'POST', `/api/sandbox/${id}/fork`, { name: 'child' })
    assert.is(
      await forked.then(
        () => 'answered',
        () => 'reset',
      ),
      'reset',
    )
    assert.is((await call(emulator, 'GET', '/api/sandbox/child')).body.state, 'started')
  }))

test('a fork fails whose parent is gone before it is over', () => {
  const clock = new HoldingClock()
  return withEmulator({ clock, speed: SPEED }, async emulator => {
    const { id } = (await create(emulator)).body
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
    // A fork takes 660 ms, and of what is called meanwhile a delete takes longest, 500.
    clock.hold(600 / SPEED)
    const forked = call(emulator, 'POST', `/api/sandbox/${id}/fork`, { name: 'child' })
    await until(async () => (await call(emulator, 'GET', '/api/sandbox/child')).status === 200)
    await call(emulator, 'DELETE', `/api/sandbox/${id}`)
    clock.release()
    assert.is((await forked).status, 500)
    assert.is((await call(emulator, 'GET', '/api/sandbox/child')).body.state, 'error')
  })
})

test('a toolbox that answers 502 has done nothing, and a create can end in error', () =>
  withEmulator({}, async emulator => {
    const { id } = (await create(emulator)).body
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
    emulator.faults.set({ kind: 'toolbox-error', next: 1 })
    const open = () => call(emulator, 'POST', `/toolbox/${id}/process/session`, { sessionId: 's' })
    assert.equal([(await open()).status, (await open()).status], [502, 201])
    emulator.faults.set({ kind: 'create-error', next: 1 })
    const failing = (await create(emulator)).body.id
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${failing}`)).body.state === 'error')
    const { errorReason } = (await call(emulator, 'GET', `/api/sandbox/${failing}`)).body
    assert.is(errorReason, 'No available runners')
  }))

test.run()
