import * as assert from 'uvu/assert'
import { makeCommandGate } from '../../../src/environment/workspace/command-gate.ts'
import { hasTag } from '../../../src/errors.ts'
import { rejection } from '../../contracts/shell.ts'
import { suite } from '../../support/suite.ts'

const test = suite('command gate')
const never = new AbortController().signal
/** Sessions are named in the order of their start. */
const owner = (id: string) => ({ id, seniority: id.charCodeAt(0) })

test('no more than the limit run at once, and a turn given back twice counts once', async () => {
  const gate = makeCommandGate({ maxRunning: 2, maxWaiting: 10 })
  const first = await gate.enter(owner('a'), never)
  await gate.enter(owner('a'), never)
  const third = gate.enter(owner('a'), never)
  assert.equal([gate.running, gate.waiting], [2, 1])
  first()
  first()
  const leaveThird = await third
  assert.equal([gate.running, gate.waiting], [2, 0])
  leaveThird()
  assert.is(gate.running, 1)
})

test('the oldest session goes first, so that some are done while others wait', async () => {
  const gate = makeCommandGate({ maxRunning: 1, maxWaiting: 10 })
  let leave = await gate.enter(owner('x'), never)
  const order: string[] = []
  const waiting = ['c1', 'b1', 'a1', 'b2', 'a2'].map(async name => {
    leave = await gate.enter(owner(name.slice(0, 1)), never)
    order.push(name)
  })
  for (let turn = 0; turn < waiting.length; turn++) {
    leave()
    await new Promise(setImmediate)
  }
  await Promise.all(waiting)
  assert.equal(order, ['a1', 'a2', 'b1', 'b2', 'c1'])
})

test('a session that sends many commands at once delays the others by one', async () => {
  const gate = makeCommandGate({ maxRunning: 2, maxWaiting: 10 })
  await gate.enter(owner('a'), never)
  let leave = await gate.enter(owner('x'), never)
  const order: string[] = []
  const waiting = ['a1', 'a2', 'b1', 'c1'].map(async name => {
    leave = await gate.enter(owner(name.slice(0, 1)), never)
    order.push(name)
  })
  for (let turn = 0; turn < waiting.length; turn++) {
    leave()
    await new Promise(setImmediate)
  }
  await Promise.all(waiting)
  assert.equal(order, ['b1', 'c1', 'a1', 'a2'])
})

test('an abort leaves the queue, and a full queue refuses', async () => {
  const gate = makeCommandGate({ maxRunning: 1, maxWaiting: 1 })
  const leave = await gate.enter(owner('a'), never)
  const controller = new AbortController()
  const waiting = rejection(gate.enter(owner('b'), controller.signal))
  assert.ok(hasTag(await rejection(gate.enter(owner('c'), never)), 'command-queue-full'))
  controller.abort(new Error('left'))
  assert.is(((await waiting) as Error).message, 'left')
  assert.is(gate.waiting, 0)
  leave()
  assert.is(gate.running, 0)
})

test.run()
