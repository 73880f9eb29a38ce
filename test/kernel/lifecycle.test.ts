import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { Actor, Signal } from '../../src/kernel/actor.ts'
import type { Failure } from '../../src/kernel/kernel.ts'
import type { Question, Ref } from '../../src/kernel/ref.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import { type CounterMessage, count, counter, makeTestSystem } from './actors.ts'

const test = suite('watching and stopping')

test('a watcher hears once that an actor is gone; of an unknown one at once; of an unwatched one never', async () => {
  const { system } = makeTestSystem()
  const signals: Signal[] = []
  const stopping: Actor<undefined, 'stop'> = {
    name: 'stops',
    initial: () => undefined,
    receive(state, _message, context) {
      context.stop()
      return state
    },
  }
  const watched = system.spawn(stopping)
  const unwatched = system.spawn(stopping)
  const unknown = system.ref<never>('test/nobody#1000')
  system.spawn<undefined, never>({
    name: 'watcher',
    initial(context) {
      for (const ref of [watched, unwatched, unknown, watched]) context.watch(ref as Ref<never>)
      context.unwatch(unwatched)
      return undefined
    },
    receive: state => state,
    onSignal(state, signal) {
      signals.push(signal)
      return state
    },
  })
  watched.tell('stop')
  unwatched.tell('stop')
  await settle()
  assert.equal(signals, [
    { type: 'terminated', address: unknown.address, reason: { type: 'unknown' } },
    { type: 'terminated', address: watched.address, reason: { type: 'stopped' } },
  ])
  assert.equal(await system.terminated(watched), { type: 'stopped' })
  await system.stop()
})

test('stop goes in order: the youngest first, children before their parent, each onStop awaited within its time', async () => {
  const log: string[] = []
  const failures: Failure[] = []
  const { system, clock } = makeTestSystem({ stopDeadlineMs: 100, onFailure: failure => failures.push(failure) })
  system.spawn(counter(log, 'first'))
  system.spawn<undefined, never>({
    name: 'family',
    initial(context) {
      context.spawn(counter(log, 'elder'))
      context.spawn({
        ...counter(log, 'younger'),
        async onStop() {
          await new Promise(() => {})
        },
      })
      return undefined
    },
    receive: state => state,
    async onStop() {
      log.push('family stopping')
      await Promise.resolve()
      log.push('family stopped')
    },
  })
  system.spawn<undefined, never>({
    name: 'throws',
    initial: () => undefined,
    receive: state => state,
    onStop() {
      throw new Error('not even that')
    },
  })
  log.length = 0
  const stopped = system.stop()
  await clock.advance(100)
  await stopped
  assert.equal(log, ['elder stopped', 'family stopping', 'family stopped', 'first stopped'])
  assert.equal(
    failures.map(({ error, directive }) => [error.tag, directive]),
    [
      ['unexpected', 'stop-failed'],
      ['stop-timeout', 'stop-failed'],
    ],
  )
  assert.is(clock.pending, 0)
  assert.throws(
    () => system.spawn(counter()),
    (error: unknown) => hasTag(error, 'stopping'),
  )
})

test('messages that wait when an actor stops are dead letters, and questions among them are answered so', async () => {
  const { system } = makeTestSystem()
  const ref = system.spawn<undefined, CounterMessage>({
    name: 'leaves',
    initial: () => undefined,
    receive(state, _message, context) {
      context.stop()
      return state
    },
  })
  ref.tell({ type: 'add' })
  ref.tell({ type: 'add' })
  const error = await system.ask(ref, count, 60_000).catch(thrown => thrown)
  assert.is(error.data.details.reason, 'stopped')
  assert.equal(system.deadLetters().byReason, { stopped: 2 })
  await system.stop()
})

test('names: one actor each, none that an address could not hold; ten thousand children stop', async () => {
  const { system } = makeTestSystem()
  const parent = system.spawn<undefined, Question<string>>({
    name: 'parent',
    initial(context) {
      for (let child = 0; child < 10_000; child += 1) context.spawn(counter())
      assert.throws(
        () => context.spawn(counter(), 'counter-1'),
        (error: unknown) => hasTag(error, 'name-in-use'),
      )
      assert.throws(
        () => context.spawn(counter(), 'a/b'),
        (error: unknown) => hasTag(error, 'bad-actor-name'),
      )
      return undefined
    },
    receive(state, message, context) {
      context.reply(message, context.self.address)
      return state
    },
  })
  const whoAreYou: Question<string> = {}
  assert.match(await system.ask(parent, whoAreYou, 1_000), /^test\/parent-1#\d+$/)
  await system.stop()
})

test.run()
