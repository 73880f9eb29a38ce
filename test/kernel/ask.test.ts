import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { Settled } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import { type CounterMessage, count, makeTestSystem, recorder } from './actors.ts'

const test = suite('ask, pipe and after')

test('ask rejects after its deadline, on the injected clock; the late answer is a dead letter', async () => {
  const { system, clock } = makeTestSystem()
  let answer: Ref<unknown> | undefined
  const slow = system.spawn<undefined, CounterMessage>({
    name: 'slow',
    initial: () => undefined,
    receive(state, _message, context) {
      answer = context.replyTo
      return state
    },
  })
  const outcome = system.ask(slow, count, 500).catch(error => error)
  await clock.advance(499)
  assert.is(await Promise.race([outcome, 'open']), 'open')
  await clock.advance(1)
  const error = await outcome
  assert.ok(hasTag(error, 'ask-timeout'))
  assert.is(error.data.address, slow.address)
  assert.is(answer?.tell(3), false)
  assert.equal(system.deadLetters().byReason, { 'late-reply': 1 })
  await system.stop()
})

test('deadlines of any lengths and orders expire when they are due, and leave no timer', async () => {
  const { system, clock } = makeTestSystem()
  const silent = system.spawn(recorder<CounterMessage>([]))
  const expired: number[] = []
  const lengths = [70, 10, 40, 10, 70, 30, ...Array.from({ length: 30 }, (_, index) => 100 + index)]
  for (const length of lengths) system.ask(silent, count, length).catch(() => expired.push(length))
  await clock.advance(200)
  assert.equal(expired, [10, 10, 30, 40, 70, 70, ...lengths.slice(6)])
  assert.is(clock.pending, 0)
  await system.stop()
})

test('a question that is open when the system stops is rejected', async () => {
  const { system, clock } = makeTestSystem()
  const open = system.ask(system.spawn(recorder<CounterMessage>([])), count, 60_000).catch(error => error)
  await settle()
  await system.stop()
  assert.ok(hasTag(await open, 'dead-letter'))
  assert.is(clock.pending, 0)
})

test('a ref to answer to can be kept, and can travel', async () => {
  const { system } = makeTestSystem()
  interface Delegate {
    readonly type: 'delegate'
    readonly answerTo: Ref<number>
  }
  const worker = system.spawn<undefined, Delegate>({
    name: 'worker',
    initial: () => undefined,
    receive(state, { answerTo }) {
      answerTo.tell(42)
      return state
    },
  })
  const front = system.spawn<undefined, CounterMessage>({
    name: 'front',
    initial: () => undefined,
    receive(state, _message, context) {
      if (context.replyTo !== undefined) worker.tell({ type: 'delegate', answerTo: context.replyTo })
      return state
    },
  })
  assert.is(await system.ask(front, count, 1_000), 42)
  await system.stop()
})

test('pipe tells how a promise ended, and after a stop counts it as a dead letter', async () => {
  const { system } = makeTestSystem()
  const heard: Settled<number>[] = []
  let settlePiped: (value: number) => void = () => {}
  const ref = system.spawn<undefined, Settled<number> | 'stop'>({
    name: 'piper',
    initial(context) {
      context.pipe(Promise.resolve(1), settled => settled)
      context.pipe<number>(Promise.reject(new Error('no')), settled => settled)
      context.pipe(
        new Promise<number>(resolve => {
          settlePiped = resolve
        }),
        settled => settled,
      )
      return undefined
    },
    receive(state, message, context) {
      if (message === 'stop') context.stop()
      else heard.push(message)
      return state
    },
  })
  await settle()
  assert.equal(heard, [
    { ok: true, value: 1 },
    { ok: false, error: { tag: 'unexpected', message: 'no' } },
  ])
  ref.tell('stop')
  await system.terminated(ref)
  settlePiped(3)
  await settle()
  assert.equal(system.deadLetters(), { total: 1, byReason: { stopped: 1 } })
  await system.stop()
})

test('after tells later, unless cancelled or stopped', async () => {
  const { system, clock } = makeTestSystem()
  const heard: string[] = []
  system.spawn<undefined, string>({
    ...recorder(heard),
    initial(context) {
      context.after(10, 'kept')
      context.after(20, 'cancelled')()
      context.after(1_000, 'never')
      return undefined
    },
  })
  await clock.advance(30)
  assert.equal(heard, ['kept'])
  await system.stop()
  assert.is(clock.pending, 0)
})

test.run()
