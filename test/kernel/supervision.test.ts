import * as assert from 'uvu/assert'
import type { Directive, Supervision } from '../../src/kernel/actor.ts'
import type { Failure } from '../../src/kernel/kernel.ts'
import { RestartHistory } from '../../src/kernel/supervision.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import {
  askChild,
  askSignals,
  type CounterMessage,
  count,
  counter,
  makeTestSystem,
  parent,
  restartAtOnce,
} from './actors.ts'

const test = suite('supervision')

async function family(supervision: Supervision, log: string[] = []) {
  const failures: Failure[] = []
  const { system, clock } = makeTestSystem({ onFailure: failure => failures.push(failure) })
  const top = system.spawn(parent(supervision, log), 'top')
  const child = await system.ask(top, askChild, 1_000)
  const signals = () => system.ask(top, askSignals, 1_000)
  return { system, clock, top, child, failures, signals }
}

const always = (directive: Directive): Supervision => ({ ...restartAtOnce, decide: () => directive })

test('resume keeps the state and goes on with the next message', async () => {
  const { system, child } = await family(always('resume'))
  child.tell({ type: 'add' })
  child.tell({ type: 'fail' })
  child.tell({ type: 'add' })
  assert.is(await system.ask(child, count, 1_000), 2)
  await system.stop()
})

test('restart begins again from `initial` after the back-off; messages wait meanwhile and the ref stays good', async () => {
  const log: string[] = []
  const { system, clock, child } = await family(restartAtOnce, log)
  child.tell({ type: 'add' })
  child.tell({ type: 'fail' })
  child.tell({ type: 'add' })
  const answer = system.ask(child, count, 1_000)
  await settle()
  assert.equal(log, ['parent started', 'child started'])
  await clock.advance(49)
  assert.equal(log, ['parent started', 'child started'])
  await clock.advance(1)
  assert.equal(log, ['parent started', 'child started', 'child started'])
  assert.is(await answer, 1)
  await system.stop()
})

test('stop stops the child; the parent and watchers hear why', async () => {
  const { system, child, signals } = await family(always('stop'))
  const terminated = system.terminated(child)
  child.tell({ type: 'fail', tag: 'OH_NO' })
  const reason = await terminated
  assert.is(reason.type, 'failed')
  if (reason.type === 'failed') assert.is(reason.error.tag, 'oh-no')
  const [signal] = await signals()
  assert.is(signal?.type, 'child-failed')
  assert.is(signal?.address, child.address)
  assert.is(child.tell({ type: 'add' }), false)
  await system.stop()
})

test('escalate fails the parent, whose own parent restarts it with a fresh child', async () => {
  const log: string[] = []
  const { system, clock, child, top, failures } = await family(always('escalate'), log)
  child.tell({ type: 'fail' })
  await settle()
  await clock.advance(50)
  assert.equal(log, ['parent started', 'child started', 'child stopped', 'parent started', 'child started'])
  assert.equal(
    failures.map(({ directive }) => directive),
    ['escalate', 'restart'],
  )
  const fresh = await system.ask(top, askChild, 1_000)
  assert.is.not(fresh.address, child.address)
  await system.stop()
})

test('more restarts than the intensity allows escalate; at the top that stops the actor', async () => {
  const failures: Failure[] = []
  const { system, clock } = makeTestSystem({ onFailure: failure => failures.push(failure) })
  const ref = system.spawn(counter())
  const terminated = system.terminated(ref)
  for (let time = 0; time < 4; time += 1) {
    ref.tell({ type: 'fail' })
    await clock.advance(400)
  }
  assert.is((await terminated).type, 'failed')
  assert.equal(
    failures.map(({ directive }) => directive),
    ['restart', 'restart', 'restart', 'escalate'],
  )
  await system.stop()
})

test('restarts outside the period are forgotten, and the back-off doubles up to its limit, with jitter', () => {
  const history = new RestartHistory()
  const error = { tag: 'any', message: 'any' }
  const supervision = { ...restartAtOnce, intensity: 5 }
  const delayAt = (now: number, random: number) => {
    const verdict = history.judge(supervision, error, now, random, true)
    return verdict.directive === 'restart' ? verdict.delayMs : verdict.directive
  }
  assert.equal(
    [0, 1, 2, 3, 4].map(now => delayAt(now, 0)),
    [50, 100, 200, 400, 500],
  )
  assert.is(delayAt(5, 0), 'escalate')
  assert.is(delayAt(5_004, 0.5), 75)
  assert.is(history.judge(always('resume'), error, 5_005, 0, false).directive, 'restart')
})

test('an actor whose `initial` throws is supervised like any other', async () => {
  const { system, clock } = makeTestSystem()
  let attempts = 0
  const ref = system.spawn<number, CounterMessage>({
    ...counter(),
    initial() {
      attempts += 1
      if (attempts < 3) throw new Error('not yet')
      return 10
    },
  })
  const answer = system.ask(ref, count, 1_000)
  await clock.advance(50)
  await clock.advance(100)
  assert.is(await answer, 10)
  await system.stop()
})

test('a question that the actor failed on is answered with a dead letter at once', async () => {
  const { system } = makeTestSystem()
  const ref = system.spawn<number, CounterMessage>({
    ...counter(),
    receive() {
      throw new Error('no')
    },
  })
  const error = await system.ask(ref, count, 60_000).catch(thrown => thrown)
  assert.is(error.tag, 'dead-letter')
  assert.is(error.data.details.reason, 'failed')
  assert.is(error.data.address, ref.address)
  await system.stop()
})

test('a failure in onSignal is a failure of the actor', async () => {
  const failures: Failure[] = []
  const { system } = makeTestSystem({ onFailure: failure => failures.push(failure) })
  const watched = system.spawn(counter())
  system.spawn<undefined, never>({
    name: 'watcher',
    initial(context) {
      context.watch(watched)
      context.watch(system.ref('test/nobody#99'))
      return undefined
    },
    receive: state => state,
    onSignal() {
      throw new Error('I cannot bear it')
    },
  })
  await settle()
  assert.is(failures.length, 1)
  await system.stop()
})

test.run()
